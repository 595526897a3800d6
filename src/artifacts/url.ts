import { ArtifactError } from './errors.ts';

/**
 * Parses a URL from a tenant or a response. URLs with user name or password are refused, so that none appears in
 * messages.
 */
export function readUrl(text: string, base?: URL): URL {
  if (!URL.canParse(text, base?.href)) {
    throw new ArtifactError('invalid', `${JSON.stringify(withoutSecrets(text))} is no URL`, {
      hint: 'write it like https://host/path',
    });
  }
  const url = new URL(text, base);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ArtifactError('invalid', `${withoutSecrets(text)} is neither an http nor an https URL`, {
      hint: 'use https:// or, for charts in registries, oci://',
    });
  }
  if (url.username !== '' || url.password !== '') {
    throw new ArtifactError('invalid', `${shownUrl(url)} has credentials in its URL`, {
      hint: 'put them into a Secret',
    });
  }
  return url;
}

/** Formats a URL for messages without query and user part, which may contain signatures and passwords. */
export function shownUrl(url: URL): string {
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function withoutSecrets(text: string): string {
  return text
    .slice(0, 300)
    .replace(/\/\/[^/@]*@/, '//')
    .replace(/[?#].*$/, '');
}

/**
 * Adds a trailing slash, so that relative URLs resolve below the path: `https://host/charts` and `https://host/charts/`
 * are the same repository.
 */
export function asDirectory(url: URL): URL {
  const directory = new URL(url);
  if (!directory.pathname.endsWith('/')) directory.pathname += '/';
  return directory;
}
