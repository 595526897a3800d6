/** On everything that is installed into a Kubernetes: it is how an installation recognises what is its own. */
export const installedLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'capstan',
  'app.kubernetes.io/part-of': 'capstan',
};

export function isInstalledByUs({ metadata }: { metadata: { labels?: Record<string, string> } }): boolean {
  return metadata.labels?.['app.kubernetes.io/part-of'] === installedLabels['app.kubernetes.io/part-of'];
}
