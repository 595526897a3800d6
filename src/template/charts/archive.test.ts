import { gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { packChart, tar } from '../../artifacts/testing/index.ts';
import { seededRandom } from '../../machinery/index.ts';
import { chartFiles, readArchive } from './archive.ts';
import { loadChart } from './load.ts';
import { renderChart } from './render.ts';

const pack = (...entries: Parameters<typeof tar>[0]): Uint8Array => gzipSync(tar(entries));

function refusal(bytes: Uint8Array, limits = {}): string {
  const read = readArchive(bytes, limits);
  if (read.ok) throw new Error('the archive was read');
  return read.error.message;
}

describe('readArchive', () => {
  it('returns the files with their paths, even long ones', () => {
    const long = `top/${'directory/'.repeat(20)}file.yaml`;
    const read = readArchive(
      pack(
        { path: 'top/', type: '5' },
        { path: './top/a.txt', content: 'a' },
        { path: long, content: 'b' },
        { path: 'top\\c.txt' },
      ),
    );
    if (!read.ok) throw read.error;
    expect([...read.value].map(([path, content]) => [path, Buffer.from(content).toString()])).toEqual([
      ['top/a.txt', 'a'],
      [long, 'b'],
      ['top/c.txt', ''],
    ]);
    const files = chartFiles(read.value);
    expect(files.ok && [...files.value.keys()]).toEqual(['a.txt', long.slice(4), 'c.txt']);
  });

  it.each([
    [
      'a symbolic link',
      pack({ path: 'a/b', type: '2', linkTo: '/etc/passwd' }),
      'archive has a symbolic link: "a/b"; only files are allowed',
    ],
    ['a link', pack({ path: 'a/b', type: '1', linkTo: 'x' }), 'archive has a link: "a/b"; only files are allowed'],
    ['a device', pack({ path: 'a/b', type: '3' }), 'archive has a device: "a/b"; only files are allowed'],
    ['an absolute path', pack({ path: '/etc/passwd' }), 'archive has an absolute path: "/etc/passwd"'],
    ['a parent directory', pack({ path: 'a/../../b' }), 'archive references a parent directory: "a/../../b"'],
    ['a drive', pack({ path: 'c:\\x' }), 'archive has an illegal path: "c:\\\\x"'],
    ['nothing', pack(), 'no files in chart archive'],
    ['text', Buffer.from('apiVersion: v2'), 'not a gzipped archive: gzip: invalid header'],
    ['half of it', pack({ path: 'a/b', content: 'x'.repeat(5_000) }).subarray(0, 60), 'gzip: unexpected end of file'],
    ['no tar', gzipSync(Buffer.alloc(600, 1)), 'tar: invalid header'],
    [
      'a tar that ends early',
      gzipSync(tar([{ path: 'a/b', content: 'x'.repeat(2_000) }]).subarray(0, 1_024)),
      'tar: unexpected end of archive',
    ],
  ])('refuses %s', (_name, bytes, message) => {
    expect(refusal(bytes)).toBe(message);
  });

  it('limits what it reads and returns', () => {
    const bomb = gzipSync(Buffer.alloc(20 * 1_024 * 1_024));
    expect(bomb.length).toBeLessThan(100_000);
    expect(refusal(bomb, { unpackedBytes: 1_024 * 1_024 })).toBe('archive unpacks to more than 1048576 bytes');
    expect(refusal(bomb, { archiveBytes: 10 })).toBe('archive is larger than 10 bytes');
    expect(refusal(pack({ path: 'a/b', content: 'xxx' }), { fileBytes: 2 })).toBe('file "a/b" is larger than 2 bytes');
    expect(refusal(pack({ path: 'a/b' }, { path: 'a/c' }), { files: 1 })).toBe('archive has more than 1 files');
  });
});

describe('damaged charts', () => {
  const whole = packChart('web', {
    'Chart.yaml':
      'apiVersion: v2\nname: web\nversion: 1.0.0\ndependencies:\n  - {name: sub, version: "1.0.0", alias: x, condition: x.on}\n',
    'values.yaml': 'a: {b: [1, 2]}\nx: {on: true}\n',
    'values.schema.json': '{"properties": {"a": {"type": "object"}}}',
    '.helmignore': '*.md\n',
    'templates/x.yaml':
      'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {v: {{ .Values.a | toJson | quote }}}\n',
    'charts/sub/Chart.yaml': 'apiVersion: v2\nname: sub\nversion: 1.0.0\n',
    'charts/sub/templates/y.yaml': '{{ range .Values.global }}{{ . }}{{ end }}',
  });

  it('return an error value, whatever is damaged', () => {
    const random = seededRandom(7);
    const plain = gunzipSync(whole);
    let rendered = 0;
    for (let round = 0; round < 400; round++) {
      const bytes = Buffer.from(plain);
      const damages = 1 + Math.floor(random.next() * 4);
      for (let i = 0; i < damages; i++) {
        const at = Math.floor(random.next() * bytes.length);
        // Half of the mutations change text, where they matter most.
        bytes[at] =
          random.next() < 0.5
            ? Math.floor(random.next() * 256)
            : '{}[]:-"\'|&*#\n. '.charCodeAt(Math.floor(random.next() * 15));
      }
      const archive = readArchive(gzipSync(bytes));
      const files = archive.ok ? chartFiles(archive.value) : archive;
      const chart = files.ok ? loadChart(files.value) : files;
      if (!chart.ok) {
        expect(chart.error.message).not.toBe('');
        continue;
      }
      const result = renderChart({ chart: chart.value, release: { name: 'r', namespace: 'n' } });
      if (result.ok) rendered++;
      else expect(result.error.message).not.toBe('');
    }
    expect(rendered).toBeGreaterThan(0);
  });

  it('are refused beyond a nesting depth', () => {
    let inner = whole;
    for (let i = 0; i < 15; i++) {
      inner = gzipSync(
        tar([
          { path: 'c/Chart.yaml', content: `apiVersion: v2\nname: c${i}\nversion: 1.0.0\n` },
          { path: 'c/charts/inner.tgz', content: inner },
        ]),
      );
    }
    const archive = readArchive(inner);
    const files = archive.ok ? chartFiles(archive.value) : archive;
    const chart = files.ok ? loadChart(files.value) : files;
    expect(chart.ok ? '' : chart.error.message).toMatch(/: charts are nested more than 10 deep$/);
  });

  it.each([
    ['that loops', '{{ range until 100000 }}{{ range until 100000 }}{{ end }}{{ end }}', /more than \d+ steps/],
    [
      'that calls itself',
      '{{ define "a" }}{{ template "a" . }}{{ end }}{{ template "a" . }}',
      /nested more than \d+ levels deep/,
    ],
    [
      'that writes endlessly',
      '{{ define "a" }}{{ repeat 100000 "x" }}{{ end }}{{ range until 100000 }}{{ include "a" . }}{{ end }}',
      /more than \d+ (?:steps|characters)/,
    ],
    [
      'that makes too many documents',
      '{{ range until 30000 }}\n---\napiVersion: v1\nkind: X\nmetadata: {name: x}\n{{ end }}',
      /renders more than 10000 documents/,
    ],
  ])('are stopped with a template %s', (_name, text, message) => {
    const files = new Map([
      ['Chart.yaml', Buffer.from('apiVersion: v2\nname: web\nversion: 1.0.0\n')],
      ['templates/x.yaml', Buffer.from(text)],
    ]);
    const chart = loadChart(files);
    if (!chart.ok) throw chart.error;
    const result = renderChart({ chart: chart.value, release: { name: 'r', namespace: 'n' } });
    expect(result.ok ? '' : result.error.message).toMatch(message);
    expect(result.ok || result.error.isLimit).toBe(true);
  });
});
