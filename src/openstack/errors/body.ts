import { isJsonObject, type JsonObject } from '../../machinery/index.ts';

/** Error details from a service. */
export interface FaultText {
  message: string;
  /** neutron's error name */
  type?: string;
  /** seconds; cinder and nova also put it in the body */
  retryAfter?: string;
}

/**
 * Parses the error bodies of services: keystone's `error`, nova's and cinder's `badRequest` and others, neutron's
 * `NeutronError`, octavia's `faultstring`, placement's `errors`, and glance's HTML page. A tenant may name any server
 * as a cloud, even one that only this program can reach. Therefore other bodies are not revealed, unless the service
 * marked the response as OpenStack's.
 */
export function readFault(contentType: string, body: string, isMarked: boolean): FaultText | undefined {
  const text = body.trim();
  if (text === '') return undefined;
  if (text.startsWith('{') || contentType.includes('json')) {
    const fault = readJsonFault(text, isMarked);
    // If JSON is requested, glance puts its HTML into it.
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
  if (!isMarked) return undefined;
  if (isHtml(contentType, text)) {
    const message = readHtmlFault(text);
    return message === undefined ? undefined : { message };
  }
  return { message: text };
}

/** Fault names of nova and cinder. */
const faultNames: ReadonlySet<string> = new Set([
  'badMediaType',
  'badMethod',
  'badRequest',
  'buildInProgress',
  'computeFault',
  'conflictingRequest',
  'forbidden',
  'itemNotFound',
  'notImplemented',
  'overLimit',
  'resizeNotAllowed',
  'serviceUnavailable',
  'unauthorized',
]);

function readJsonFault(text: string, isMarked: boolean): FaultText | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(value)) return isMarked && typeof value === 'string' ? { message: value } : undefined;
  return readKnownFault(value) ?? (isMarked ? readAnyFault(value) : undefined);
}

function readKnownFault(value: JsonObject): FaultText | undefined {
  const { faultstring, NeutronError: neutron, error, errors } = value;
  if (typeof faultstring === 'string' && 'faultcode' in value) return { message: faultstring };
  if (typeof neutron === 'string') return { message: neutron };
  if (isJsonObject(neutron)) {
    const { message, type, detail } = neutron;
    const extra = typeof detail === 'string' && detail !== '' ? ` ${detail}` : '';
    return { message: `${asText(message) ?? ''}${extra}`, ...(typeof type === 'string' && { type }) };
  }
  if (isJsonObject(error) && typeof error['code'] === 'number' && typeof error['title'] === 'string') {
    return faultIn(error);
  }
  const [[name = '', fault] = [], ...others] = Object.entries(value);
  if (others.length === 0 && faultNames.has(name) && isJsonObject(fault)) return faultIn(fault);
  if (Array.isArray(errors) && isJsonObject(errors[0]) && typeof errors[0]['status'] === 'number') {
    const message = asText(errors[0]['detail']) ?? asText(errors[0]['title']);
    return message === undefined ? undefined : { message };
  }
  const isGlance = typeof value['title'] === 'string' && /^\d{3} /.test(asText(value['code']) ?? '');
  return isGlance ? faultIn(value) : undefined;
}

function readAnyFault(value: JsonObject): FaultText | undefined {
  for (const inner of Object.values(value)) {
    const fault = isJsonObject(inner) ? faultIn(inner) : undefined;
    if (fault) return fault;
  }
  const message = asText(value['message']) ?? asText(value['error']) ?? asText(value['faultstring']);
  return message === undefined ? undefined : { message };
}

function faultIn(fault: JsonObject): FaultText | undefined {
  const message = asText(fault['message']);
  if (message === undefined) return undefined;
  const retryAfter = asText(fault['retryAfter']);
  return { message, ...(retryAfter !== undefined && { retryAfter }) };
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  return typeof value === 'number' ? String(value) : undefined;
}

export function isHtml(contentType: string, text: string): boolean {
  return contentType.includes('text/html') || /^\s*<(!doctype|html)/i.test(text);
}

/** Parses the error page of a WSGI service: the status as heading, then the message. */
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
