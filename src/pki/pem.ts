export interface PemBlock {
  /** e.g. `CERTIFICATE` */
  label: string;
  bytes: Buffer;
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/** All blocks of a PEM text, in order; text around them is ignored. */
export function decodePem(text: string): PemBlock[] {
  return Array.from(text.matchAll(block), ([, label = '', body = '']) => ({
    label,
    bytes: Buffer.from(body, 'base64'),
  }));
}

export function encodePem(label: string, bytes: Uint8Array): string {
  const lines =
    Buffer.from(bytes)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

/** The certificates of a bundle, each as PEM of its own. */
export function splitCertificates(bundle: string): string[] {
  return decodePem(bundle)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ bytes }) => encodePem('CERTIFICATE', bytes));
}
