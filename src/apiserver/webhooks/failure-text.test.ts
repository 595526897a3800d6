import { describe, expect, it } from 'vitest';
import { systemClock } from '../../machinery/index.ts';
import { createAuthority, issueCertificate } from '../../pki/index.ts';
import { startTestWebhook } from '../testing/index.ts';
import { webhookFailure } from './failure-text.ts';
import { WebhookClient } from './webhook-client.ts';

const failure = (more: object): Error => Object.assign(new Error('raw'), more);

describe('a webhook failure', () => {
  it.each([
    [{ code: 'ECONNREFUSED', address: '10.0.0.1', port: 443 }, 'dial tcp 10.0.0.1:443: connect: connection refused'],
    [{ code: 'ECONNREFUSED', address: '::1', port: 443 }, 'dial tcp [::1]:443: connect: connection refused'],
    [
      { code: 'ECONNREFUSED', errors: [failure({ code: 'ECONNREFUSED', address: '127.0.0.1', port: 1 })] },
      'dial tcp 127.0.0.1:1: connect: connection refused',
    ],
    [{ code: 'ECONNREFUSED' }, 'dial tcp: connect: connection refused'],
    [{ code: 'ENOTFOUND', hostname: 'no.such' }, 'dial tcp: lookup no.such: no such host'],
    [
      { code: 'CERT_HAS_EXPIRED' },
      'tls: failed to verify certificate: x509: certificate has expired or is not yet valid',
    ],
    [{ name: 'TimeoutError' }, 'context deadline exceeded'],
    [{ code: 'SOMETHING' }, 'raw'],
  ])('has the same message as in kube-apiserver: %j', (error, text) => {
    expect(webhookFailure(failure(error))).toBe(text);
  });

  it('has the same message as in kube-apiserver for real connections', async () => {
    const client = new WebhookClient(() => ({ fault: 'nowhere' }));
    const webhook = await startTestWebhook();
    const other = await createAuthority({ commonName: 'other', clock: systemClock });
    const leaf = await issueCertificate({ authority: other, commonName: 'x', usages: ['server'], clock: systemClock });
    const call = (url: string, pem: string): Promise<unknown> =>
      client
        .post({ url, caBundle: Buffer.from(pem).toString('base64') }, {}, 10_000)
        .catch((error: Error) => error.message);
    expect(await call(webhook.url, leaf.certificate)).toBe(
      `Post "${webhook.url}": tls: failed to verify certificate: x509: certificate signed by unknown authority`,
    );
    await webhook.stop();
    const port = new URL(webhook.url).port;
    expect(await call(webhook.url, leaf.certificate)).toBe(
      `Post "${webhook.url}": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    );
    await client.close();
  });
});

describe('a webhook whose answer does not end', () => {
  it.each([
    ['endless', 10_000, 'the answer is too large'],
    ['unfinished', 300, 'context deadline exceeded'],
    ['never', 300, 'context deadline exceeded'],
  ] as const)('is cut off: %s', async (answer, timeoutMs, fault) => {
    const client = new WebhookClient(() => ({ fault: 'nowhere' }));
    const webhook = await startTestWebhook();
    webhook.answer(() => answer);
    const call = client.post({ url: webhook.url, caBundle: webhook.caBundle }, {}, timeoutMs);
    await expect(call).rejects.toThrow(`Post "${webhook.url}": ${fault}`);
    await client.close();
    await webhook.stop();
  });
});
