import { lookup } from 'node:dns';
import { Agent, request } from 'undici';
import { anyPeer, CapstanError, checkPeerHost, guardedLookup, type PeerPolicy } from '../../../machinery/index.ts';

/** Yields the content of a URL in chunks; throws if it cannot be read completely. */
export type FetchContent = (url: string, signal: AbortSignal) => AsyncIterable<Uint8Array>;

const maxRedirects = 5;
const headersTimeoutMs = 60_000;
/** Timeout of a server that sends nothing during a download. */
const bodyTimeoutMs = 120_000;
/** Size limit, about ten times the largest images in use. */
const maxBytes = 256 * 1024 ** 3;

/** The content of an image cannot be downloaded. */
export class ImageContentError extends CapstanError {
  constructor(message: string, options?: { cause?: unknown }) {
    super('CAP_IMAGE_CONTENT', message, options);
    this.name = 'ImageContentError';
  }
}

/**
 * Downloads over HTTP. Security: tenants choose the URL, so every host, including redirects, must be allowed by the
 * peer policy.
 */
export function fetchOverHttp(peers: PeerPolicy = anyPeer): FetchContent {
  return async function* (url, signal) {
    const dispatcher = new Agent({
      connect: { lookup: guardedLookup(peers, lookup as never) as never },
      headersTimeout: headersTimeoutMs,
      bodyTimeout: bodyTimeoutMs,
      pipelining: 0,
    });
    try {
      let target = httpUrl(url);
      for (let hop = 0; ; hop++) {
        checkPeerHost(peers, target.hostname);
        const answer = await request(target, { dispatcher, signal });
        const { location } = answer.headers;
        if (answer.statusCode >= 300 && answer.statusCode < 400 && typeof location === 'string') {
          await answer.body.dump();
          if (hop >= maxRedirects) throw new ImageContentError(`${url}: it leads to more than ${maxRedirects} places`);
          target = httpUrl(new URL(location, target).href);
          continue;
        }
        if (answer.statusCode !== 200) {
          await answer.body.dump();
          throw new ImageContentError(`${url}: the server answers ${answer.statusCode}`);
        }
        let bytes = 0;
        for await (const chunk of answer.body) {
          bytes += (chunk as Uint8Array).length;
          if (bytes > maxBytes) throw new ImageContentError(`${url}: it is larger than ${maxBytes} bytes`);
          yield chunk as Uint8Array;
        }
        return;
      }
    } catch (error) {
      if (error instanceof CapstanError || signal.aborted) throw error;
      throw new ImageContentError(`${url}: ${error instanceof Error ? error.message : String(error)}`, {
        cause: error,
      });
    } finally {
      await dispatcher.destroy();
    }
  };
}

function httpUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new ImageContentError(`${text} is no http or https address`);
  }
  return url;
}
