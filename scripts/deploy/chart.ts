import { installation } from '../../src/cli/install/installation.ts';
import { asJson, formatYaml, type KubeObject } from '../../src/machinery/index.ts';

/** Placeholders in the objects for values of the chart. */
const placeholders = { image: 'CAPSTAN_IMAGE', replicas: 424_242 };

const namespace = 'capstan-system';

/** Optional lists and maps of the Pods, below the service account. */
const podFields = ['imagePullSecrets', 'nodeSelector', 'tolerations', 'affinity', 'priorityClassName'];

/**
 * Builds the Helm chart of an installation. Helm creates the namespace. The definitions are in crds/, which Helm
 * installs only once.
 */
export function chartFiles(options: { definitions: string; version: string; replicas: number }): Map<string, string> {
  const { others } = installation(placeholders);
  const objects = others.filter(({ kind }) => kind !== 'Namespace');
  return new Map([
    ['Chart.yaml', chartYaml(options.version)],
    ['values.yaml', valuesYaml(options.replicas)],
    ['values.schema.json', `${JSON.stringify(valuesSchema, undefined, 2)}\n`],
    ['crds/kinds.yaml', options.definitions],
    ['templates/_helpers.tpl', helpers],
    ['templates/controllers.yaml', objects.map((object) => `---\n${template(object)}`).join('')],
    ['templates/NOTES.txt', notes],
  ]);
}

function template(object: KubeObject): string {
  const text = formatYaml(asJson(object)).replaceAll('{{', '{{ "{{" }}');
  if (object.kind !== 'Deployment') return text;
  return text
    .replace(`image: ${placeholders.image}`, 'image: {{ include "capstan.image" . }}')
    .replace(`replicas: ${placeholders.replicas}`, 'replicas: {{ .Values.replicas }}')
    .replace(/^( *)serviceAccountName: .*\n/m, (line: string, indent: string) => line + podFieldTemplates(indent))
    .replace(/^( *)resources:\n(?:\1 .*\n)+/m, (_, indent: string) => resourcesTemplate(indent))
    .replace(/^( *)- --backup-directory=.*\n/m, (line: string, indent: string) =>
      [line, sharesTemplate(indent), argumentsTemplate(indent)].join(''),
    );
}

function podFieldTemplates(indent: string): string {
  return podFields
    .map((name) => `${indent}{{- with .Values.${name} }}\n${indent}${name}: {{ toJson . }}\n${indent}{{- end }}\n`)
    .join('');
}

function resourcesTemplate(indent: string): string {
  return `${indent}resources: {{ toJson .Values.resources }}\n`;
}

function sharesTemplate(indent: string): string {
  return `${indent}{{- if .Values.shares }}\n${indent}- --shares\n${indent}{{- end }}\n`;
}

function argumentsTemplate(indent: string): string {
  return `${indent}{{- range .Values.extraArgs }}\n${indent}- {{ toJson . }}\n${indent}{{- end }}\n`;
}

function chartYaml(version: string): string {
  return `apiVersion: v2
name: capstan
description: Kubernetes clusters on OpenStack
type: application
version: ${version}
appVersion: ${version}
kubeVersion: ">=1.28.0-0"
`;
}

function valuesYaml(replicas: number): string {
  return `# Where the image is; "npm run image" makes it.
image:
  # registry and path before the name, such as registry.example.org/platform
  registry: ""
  name: capstan
  # the chart's own version when empty
  tag: ""
# All replicas serve the webhooks, one works.
replicas: ${replicas}
# The replicas divide the clusters among themselves, instead of one that works and others that stand by.
shares: false
resources:
  requests:
    cpu: 100m
    memory: 256Mi
  limits:
    memory: 2Gi
# Further flags of "capstan controller".
extraArgs: []
imagePullSecrets: []
nodeSelector: {}
tolerations: []
affinity: {}
priorityClassName: ""
`;
}

const stringField = { type: 'string' };
const valuesSchema = {
  $schema: 'https://json-schema.org/draft-07/schema#',
  type: 'object',
  additionalProperties: false,
  properties: {
    global: { type: 'object' },
    image: {
      type: 'object',
      additionalProperties: false,
      properties: { registry: stringField, name: { ...stringField, minLength: 1 }, tag: stringField },
    },
    replicas: { type: 'integer', minimum: 1 },
    shares: { type: 'boolean' },
    resources: { type: 'object' },
    extraArgs: { type: 'array', items: stringField },
    imagePullSecrets: { type: 'array', items: { type: 'object' } },
    nodeSelector: { type: 'object', additionalProperties: stringField },
    tolerations: { type: 'array', items: { type: 'object' } },
    affinity: { type: 'object' },
    priorityClassName: stringField,
  },
};

const helpers = `{{- define "capstan.image" -}}
{{- if ne .Release.Namespace "${namespace}" -}}
{{- fail (printf "capstan is installed into the namespace ${namespace}, not into %s: use --namespace ${namespace} --create-namespace" .Release.Namespace) -}}
{{- end -}}
{{- with .Values.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ .Values.image.name }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
`;

const notes = `The controllers of Capstan start in ${namespace}:

  kubectl -n ${namespace} rollout status deployment capstan-controllers

Helm installs definitions of kinds, but does not upgrade them. Before "helm upgrade":

  kubectl apply --server-side --force-conflicts --field-manager=capstan -f crds/kinds.yaml
`;
