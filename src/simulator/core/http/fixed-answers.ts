import type { Answer } from '../service.ts';

// Answers that several services share because they use the same framework.

const title: Readonly<Record<number, string>> = {
  300: 'Multiple Choices',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  406: 'Not Acceptable',
  409: 'Conflict',
  410: 'Gone',
  412: 'Precondition Failed',
  413: 'Request Entity Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  501: 'Not Implemented',
  502: 'Bad Gateway',
  503: 'Service Unavailable',
  504: 'Gateway Timeout',
};

/** Returns the reason phrase of a status. */
export function statusTitle(status: number): string {
  return title[status] ?? 'Error';
}

/** Builds webob's HTML page. Glance uses it for all errors, other services for unknown paths. */
export function htmlAnswer(status: number, message: string): Answer {
  const heading = `${status} ${statusTitle(status)}`;
  const bytes =
    `<html>\n <head>\n  <title>${heading}</title>\n </head>\n <body>\n  <h1>${heading}</h1>\n` +
    `  ${escapeHtml(message)}<br /><br />\n\n\n\n </body>\n</html>`;
  return { status, bytes, contentType: 'text/html; charset=UTF-8' };
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#x27;');
}

/** Builds the answer of keystonemiddleware in front of nova, neutron, cinder and octavia. */
export function unauthenticatedAnswer(identityUrl: string): Answer {
  const message = 'The request you have made requires authentication.';
  return {
    status: 401,
    headers: { 'www-authenticate': `Keystone uri="${identityUrl}"` },
    body: { error: { code: 401, title: 'Unauthorized', message } },
    contentType: 'application/json',
  };
}
