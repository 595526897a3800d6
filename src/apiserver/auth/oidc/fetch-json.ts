import { Agent, get } from 'node:https';

const timeoutMs = 10_000;
/** Far more than any key set needs. */
const maxBytes = 1024 * 1024;

/** Fetches a JSON document by HTTPS, with limits on time and size and without redirects. */
export function fetchJson(url: string, options: { ca?: string; signal?: AbortSignal }): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ keepAlive: false, ...(options.ca !== undefined && { ca: options.ca }) });
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([deadline, options.signal]) : deadline;
    const request = get(url, { agent, signal, headers: { accept: 'application/json' } }, (response) => {
      if (response.statusCode !== 200) {
        response.destroy();
        reject(new Error(`${url} answered ${response.statusCode ?? 'nothing'}`));
        return;
      }
      const pieces: Buffer[] = [];
      let size = 0;
      response.on('data', (piece: Buffer) => {
        size += piece.length;
        if (size > maxBytes) response.destroy(new Error(`${url} answered more than ${maxBytes} bytes`));
        else pieces.push(piece);
      });
      response.on('error', reject);
      response.on('end', () => {
        try {
          resolve(JSON.parse(Buffer.concat(pieces).toString('utf8')));
        } catch {
          // The answer is not quoted, because it may contain anything.
          reject(new Error(`${url} did not answer with JSON`));
        }
      });
    });
    request.on('error', reject);
  });
}
