{{- define "capstan.image" -}}
{{- if ne .Release.Namespace "capstan-system" -}}
{{- fail (printf "capstan is installed into the namespace capstan-system, not into %s: use --namespace capstan-system --create-namespace" .Release.Namespace) -}}
{{- end -}}
{{- with .Values.image.registry }}{{ trimSuffix "/" . }}/{{ end -}}
{{ .Values.image.name }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
