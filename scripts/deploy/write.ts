// Regenerates the manifests and the chart below deploy/ from the code.
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { deployFiles } from './files.ts';

const directory = resolve(import.meta.dirname, '../../deploy');
await rm(join(directory, 'chart'), { recursive: true, force: true });
for (const [path, text] of deployFiles()) {
  const file = join(directory, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
