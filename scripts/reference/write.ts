// Regenerates docs/reference from the definitions in the code.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { referencePages } from './pages.ts';

const directory = resolve(import.meta.dirname, '../../docs/reference');
await rm(directory, { recursive: true, force: true });
for (const [path, text] of await referencePages()) {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
