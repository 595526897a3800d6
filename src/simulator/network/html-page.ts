import type { Answer } from '../core/service.ts';

/** Builds the HTML page for paths outside of the API, with an optional detail. */
export function notFoundPage(detail = ''): Answer {
  const bytes =
    '<html>\n <head>\n  <title>404 Not Found</title>\n </head>\n <body>\n  <h1>404 Not Found</h1>\n' +
    `  The resource could not be found.<br /><br />\n${detail}\n\n\n </body>\n</html>`;
  return { status: 404, bytes, contentType: 'text/html; charset=UTF-8' };
}
