{{- define "cilium.namespace" -}}
{{ .Values.namespaceOverride | default .Release.Namespace }}
{{- end }}

{{- define "cilium.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default (printf "v%s" .Chart.Version) }}
{{- end }}

{{/* those of a map's entries that hold something */}}
{{- define "cilium.given" -}}
{{- range $key, $value := . }}
{{- if $value }}
{{ dict $key $value | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{/* who a container is and where; and the API, where kube-proxy does not lead to it */}}
{{- define "cilium.env" -}}
- name: K8S_NODE_NAME
  valueFrom: { fieldRef: { apiVersion: v1, fieldPath: spec.nodeName } }
- name: CILIUM_K8S_NAMESPACE
  valueFrom: { fieldRef: { apiVersion: v1, fieldPath: metadata.namespace } }
{{- if .Values.k8sServiceHost }}
- name: KUBERNETES_SERVICE_HOST
  value: {{ .Values.k8sServiceHost | quote }}
{{- end }}
{{- if .Values.k8sServicePort }}
- name: KUBERNETES_SERVICE_PORT
  value: {{ .Values.k8sServicePort | quote }}
{{- end }}
{{- end }}

{{/* a question for the health of a container on the host's network: number of the port, its name, headers */}}
{{- define "cilium.health" -}}
httpGet:
  host: 127.0.0.1
  path: /healthz
  scheme: HTTP
  port: {{ index . 0 }}
  {{- with index . 1 }}
  httpHeaders:
    {{- range . }}
    - { name: {{ index . 0 }}, value: {{ index . 1 | quote }} }
    {{- end }}
  {{- end }}
successThreshold: 1
{{- end }}

{{/* what a container may do on the host */}}
{{- define "cilium.rights" -}}
seLinuxOptions: { level: s0, type: spc_t }
capabilities:
  {{- with . }}
  add: [{{ join ", " . }}]
  {{- end }}
  drop: [ALL]
{{- end }}
