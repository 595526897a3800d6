{{- define "ccm.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "ccm.chart" -}}
{{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- end }}

{{/* what finds the Pods */}}
{{- define "ccm.selector" -}}
app: {{ include "ccm.name" . }}
component: controllermanager
release: {{ .Release.Name }}
{{- end }}

{{/* metadata of every object: the name, and "global" for what has no namespace */}}
{{- define "ccm.metadata" -}}
{{- $root := index . 0 -}}
name: {{ index . 1 }}
{{- if lt (len .) 3 }}
namespace: {{ $root.Release.Namespace }}
{{- end }}
labels:
  app.kubernetes.io/name: {{ include "ccm.name" $root }}
  app.kubernetes.io/instance: {{ $root.Release.Name }}
  app.kubernetes.io/managed-by: {{ $root.Release.Service }}
  app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
  helm.sh/chart: {{ include "ccm.chart" $root }}
{{- with $root.Values.commonAnnotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{/* cloud.conf as the values spell it out */}}
{{- define "ccm.config" -}}
{{- $values := .Values.cloudConfig | default dict -}}
{{- $sections := list -}}
{{- range list "Global" "Networking" "LoadBalancer" "BlockStorage" "Metadata" "Route" -}}
{{- $lines := list (printf "[%s]" .) -}}
{{- range $key, $value := index $values (untitle .) -}}
{{- $lines = append $lines (printf "%s = %s" $key ($value | quote)) -}}
{{- end -}}
{{- $sections = append $sections (join "\n" $lines) -}}
{{- end -}}
{{ join "\n\n" $sections }}
{{- end }}
