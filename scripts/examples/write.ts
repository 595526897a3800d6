// Regenerates the examples that come from templates.
import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { exampleFiles } from './files.ts';

for (const [path, text] of exampleFiles()) await writeFile(resolve(import.meta.dirname, '../../examples', path), text);
