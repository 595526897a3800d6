{{- define "metrics.name" -}}
{{ .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "metrics.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $full := ternary .Release.Name (printf "%s-%s" .Release.Name $name) (contains $name .Release.Name) -}}
{{ .Values.fullnameOverride | default $full | trunc 63 | trimSuffix "-" }}
{{- end }}

{{- define "metrics.account" -}}
{{ .Values.serviceAccount.name | default (ternary (include "metrics.fullname" .) "default" .Values.serviceAccount.create) }}
{{- end }}

{{- define "metrics.selector" -}}
app.kubernetes.io/name: {{ include "metrics.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "metrics.labels" -}}
{{ include "metrics.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* those of a map's entries that hold something */}}
{{- define "metrics.given" -}}
{{- range $key, $value := . }}
{{- if $value }}
{{ dict $key $value | toYaml }}
{{- end }}
{{- end }}
{{- end }}

{{- define "metrics.subjects" -}}
- kind: ServiceAccount
  name: {{ include "metrics.account" . }}
  namespace: {{ .Release.Namespace }}
{{- end }}
