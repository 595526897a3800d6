{{- define "csi.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* labels that find the Pods of a plugin: root, component, name of the app */}}
{{- define "csi.selector" -}}
app: {{ index . 2 | default (include "csi.name" (index . 0)) }}
component: {{ index . 1 }}
release: {{ (index . 0).Release.Name }}
{{- end }}

{{/* the same, with what may change between releases */}}
{{- define "csi.labels" -}}
{{- $root := index . 0 -}}
{{ include "csi.selector" . }}
chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
heritage: {{ $root.Release.Service }}
{{- with $root.Values.extraLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* a map under its key, unless it is empty */}}
{{- define "csi.given" -}}
{{- range $key, $value := . }}
{{- if $value }}
{{ dict $key $value | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{/* a container beside the plugin: root, name, key of its values, arguments, environment, mounts, security context */}}
{{- define "csi.sidecar" -}}
{{- $root := index . 0 -}}
{{- $values := index $root.Values.csi (index . 2) -}}
{{- $args := prepend (index . 3) (printf "-v=%v" $root.Values.logVerbosityLevel) -}}
{{- with $values.extraArgs -}}
{{- $args = concat $args (tpl . $root | fromYamlArray) -}}
{{- end -}}
name: {{ index . 1 }}
image: "{{ $values.image.repository }}:{{ $values.image.tag }}"
imagePullPolicy: {{ $values.image.pullPolicy }}
args: {{- toYaml $args | nindent 2 }}
volumeMounts: {{- toYaml (index . 5) | nindent 2 }}
{{- include "csi.given" (dict
      "env" (concat (index . 4) ($values.extraEnv | default list))
      "resources" $values.resources
      "securityContext" (index . 6)) }}
{{- end }}

{{/* the plugin itself: root, values of its half, arguments before the configuration, after it, environment, mounts */}}
{{- define "csi.plugin" -}}
{{- $root := index . 0 -}}
{{- $plugin := $root.Values.csi.plugin -}}
{{- $args := concat (list "/bin/cinder-csi-plugin" (printf "-v=%v" $root.Values.logVerbosityLevel) "--endpoint=$(CSI_ENDPOINT)") (index . 2) -}}
{{- range list $plugin.extraArgs (index . 1).extraArgs -}}
{{- with . -}}
{{- $args = concat $args (tpl . $root | fromYamlArray) -}}
{{- end -}}
{{- end -}}
{{- $env := list
      (dict "name" "CSI_ENDPOINT" "value" "unix://csi/csi.sock")
      (dict "name" "CLOUD_CONFIG" "value" (printf "%s/%s" $plugin.configDirectory $root.Values.secret.filename)) -}}
name: cinder-csi-plugin
image: "{{ $plugin.image.repository }}:{{ $plugin.image.tag | default $root.Chart.AppVersion }}"
imagePullPolicy: {{ $plugin.image.pullPolicy }}
args: {{- toYaml $args | nindent 2 }}
env: {{- concat $env (index . 3) ($plugin.extraEnv | default list) | toYaml | nindent 2 }}
livenessProbe:
  httpGet: { path: /healthz, port: healthz }
  {{- pick $root.Values.csi.livenessprobe "failureThreshold" "initialDelaySeconds" "timeoutSeconds" "periodSeconds" | toYaml | nindent 2 }}
volumeMounts: {{- concat (index . 4) ($plugin.volumeMounts | default list) | toYaml | nindent 2 }}
{{- include "csi.given" (dict "resources" $plugin.resources) }}
{{- end }}

{{/* where the configuration comes from, and the volumes users bring */}}
{{- define "csi.volumes" -}}
{{- $volumes := .Values.csi.plugin.volumes | default list -}}
{{- if .Values.secret.enabled -}}
{{- $volumes = prepend $volumes (dict "name" "cloud-config" "secret" (dict "secretName" .Values.secret.name)) -}}
{{- else if .Values.secret.hostMount -}}
{{- $volumes = prepend $volumes (dict "name" "cloud-config" "hostPath" (dict "path" .Values.csi.plugin.configDirectory)) -}}
{{- end -}}
{{- toYaml $volumes -}}
{{- end }}

{{/* what both kinds of Pods are placed by: root, values of the half */}}
{{- define "csi.placement" -}}
{{- $root := index . 0 -}}
{{- $half := index . 1 -}}
{{- include "csi.given" (dict
      "affinity" $half.affinity
      "nodeSelector" $half.nodeSelector
      "tolerations" $half.tolerations
      "hostAliases" $half.hostAliases
      "securityContext" $half.podSecurityContext
      "priorityClassName" $root.Values.priorityClassName
      "imagePullSecrets" $root.Values.imagePullSecrets) }}
{{- end }}
