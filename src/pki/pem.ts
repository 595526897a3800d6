export interface PemBlock {
  /** e.g. `CERTIFICATE` */
  label: string;
  bytes: Buffer;
}

const block = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/** Decodes all blocks of a PEM text in order. Ignores text around them. */
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

/** Splits a bundle into certificates, each as PEM. */
export function splitCertificates(bundle: string): string[] {
  return decodePem(bundle)
    .filter(({ label }) => label === 'CERTIFICATE')
    .map(({ bytes }) => encodePem('CERTIFICATE', bytes));
}
