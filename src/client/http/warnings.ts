/**
 * Parses `Warning` response headers. Kubernetes sends `299 - "text"`, several of them as separate headers or joined by
 * commas; other codes are ignored.
 */
export function parseWarnings(header: string | readonly string[] | undefined): string[] {
  if (header === undefined) return [];
  const texts: string[] = [];
  const pattern = /\b(\d{3}) \S+ "((?:[^"\\]|\\.)*)"/g;
  for (const value of typeof header === 'string' ? [header] : header) {
    for (const [, code, text = ''] of value.matchAll(pattern)) {
      if (code === '299') texts.push(text.replace(/\\(.)/g, '$1'));
    }
  }
  return texts;
}
