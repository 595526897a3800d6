/** Labels of all installed objects, by which an installation recognizes its own objects. */
export const installedLabels: Readonly<Record<string, string>> = {
  'app.kubernetes.io/name': 'capstan',
  'app.kubernetes.io/part-of': 'capstan',
};

export function isInstalledByUs({ metadata }: { metadata: { labels?: Record<string, string> } }): boolean {
  return metadata.labels?.['app.kubernetes.io/part-of'] === installedLabels['app.kubernetes.io/part-of'];
}
