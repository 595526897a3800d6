import { isJsonObject } from '../../machinery/index.ts';

/** What a service says about a failure. */
export interface FaultText {
  message: string;
  /** neutron's name of the error */
  type?: string;
  /** seconds, cinder and nova put it into the body too */
  retryAfter?: string;
}

/**
 * Reads the five shapes of error bodies: keystone's `error`, nova's and cinder's `badRequest` and the like, neutron's
 * `NeutronError`, octavia's `faultstring`, and the HTML page of glance and of paths nobody serves.
 */
export function readFault(contentType: string, body: string): FaultText | undefined {
  const text = body.trim();
  if (text === '') return undefined;
  if (text.startsWith('{') || contentType.includes('json')) {
    const fault = readJsonFault(text);
    // glance asked for JSON puts its HTML into it
    return (
      fault && {
        ...fault,
        message: fault.message
          .replaceAll(/<br ?\/?>/g, ' ')
          .replaceAll(/\s{2,}/g, ' ')
          .trim(),
      }
    );
  }
  if (isHtml(contentType, text)) {
    const message = readHtmlFault(text);
    return message === undefined ? undefined : { message };
  }
  return { message: text };
}

function readJsonFault(text: string): FaultText | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return typeof value === 'string' ? { message: value } : undefined;
  if (typeof value['faultstring'] === 'string') return { message: value['faultstring'] };
  const neutron = value['NeutronError'];
  if (typeof neutron === 'string') return { message: neutron };
  if (isJsonObject(neutron)) {
    const { message, type, detail } = neutron;
    const extra = typeof detail === 'string' && detail !== '' ? ` ${detail}` : '';
    return { message: `${asText(message) ?? ''}${extra}`, ...(typeof type === 'string' && { type }) };
  }
  for (const inner of Object.values(value)) {
    const message = isJsonObject(inner) ? asText(inner['message']) : undefined;
    if (message === undefined || !isJsonObject(inner)) continue;
    const retryAfter = asText(inner['retryAfter']);
    return { message, ...(retryAfter !== undefined && { retryAfter }) };
  }
  const errors = value['errors'];
  if (Array.isArray(errors) && isJsonObject(errors[0])) {
    const message = asText(errors[0]['detail']) ?? asText(errors[0]['title']);
    if (message !== undefined) return { message };
  }
  const message = asText(value['message']) ?? asText(value['error']);
  return message === undefined ? undefined : { message };
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

export function isHtml(contentType: string, text: string): boolean {
  return contentType.includes('text/html') || /^\s*<(!doctype|html)/i.test(text);
}

/** The page a WSGI service writes: the status as heading, then the message. */
function readHtmlFault(html: string): string | undefined {
  const afterHeading = /<h1>[^<]*<\/h1>([\s\S]*?)(?:<\/body>|$)/i.exec(html)?.[1];
  const message = plainText(afterHeading ?? '');
  return message !== '' ? message : htmlTitle(html);
}

export function htmlTitle(html: string): string | undefined {
  const title = plainText(/<title>([\s\S]*?)<\/title>/i.exec(html)?.[1] ?? '');
  return title === '' ? undefined : title;
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#x27;': "'",
  '&#39;': "'",
  '&nbsp;': ' ',
  '&amp;': '&',
};

function plainText(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/&(?:lt|gt|quot|#x27|#39|nbsp|amp);/g, (entity) => entities[entity] ?? entity)
    .replaceAll(/\s+/g, ' ')
    .trim();
}
