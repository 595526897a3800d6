import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { describeGolden } from '../testing/golden.ts';
import { goldenCases } from './testing/golden-cases.ts';

const tokenPattern = /H4sI[A-Za-z0-9+/%]+(?:=|%3D)*/g;

/** Decompresses the token: the compressed bytes depend on the zlib version, so golden files contain the plain text. */
function legible(text: string): string {
  return text.replaceAll(tokenPattern, (token) => {
    const kubeconfig = gunzipSync(Buffer.from(decodeURIComponent(token), 'base64')).toString('utf8');
    return `<${JSON.stringify(parse(kubeconfig))}>`;
  });
}

describeGolden(goldenCases, new URL('./testdata/', import.meta.url), legible);

it.each(goldenCases)('user data of $name contains the join token', ({ render }) => {
  expect(legible(render().text)).toContain('abcdef.0123456789abcdef');
});
