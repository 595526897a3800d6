// Keeps the rooms of src/ in order: imports between rooms go one way and through the room's door (index.ts).
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** room -> rooms it may import from */
const allowed = {
  machinery: [],
  api: ['machinery'],
  store: ['machinery'],
  apiserver: ['store', 'machinery', 'pki'],
  client: ['machinery'],
  runtime: ['client', 'machinery'],
  pki: ['machinery'],
  template: ['machinery'],
  openstack: ['machinery'],
  hosting: ['runtime', 'client', 'pki', 'api', 'machinery'],
  controllers: ['hosting', 'runtime', 'client', 'openstack', 'pki', 'template', 'api', 'machinery'],
  housekeeping: ['runtime', 'client', 'pki', 'api', 'machinery'],
  simkube: ['housekeeping', 'apiserver', 'client', 'runtime', 'pki', 'api', 'store', 'machinery'],
  podhost: ['simkube', 'housekeeping', 'apiserver', 'client', 'runtime', 'pki', 'api', 'machinery'],
  simulator: ['simkube', 'housekeeping', 'apiserver', 'client', 'runtime', 'pki', 'api', 'store', 'machinery'],
  dashboard: ['controllers', 'runtime', 'client', 'api', 'machinery'],
  cli: '*',
};

const root = resolve('src');
const problems = [];
for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
  const file = join(entry.parentPath ?? entry.path, entry.name);
  const room = relative(root, file).split(sep)[0];
  // A test may reach across rooms to build the real thing around the unit under test.
  const isTest = entry.name.endsWith('.test.ts') || file.includes(`${sep}testing${sep}`);
  if (!(room in allowed)) {
    problems.push(`${relative('.', file)}: "${room}" is not a room of the plan`);
    continue;
  }
  const text = readFileSync(file, 'utf8');
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = resolve(dirname(file), match[1]);
    const targetRoom = relative(root, target).split(sep)[0];
    if (targetRoom === room) {
      if (room === 'controllers' && !isTest) checkArea(file, target, match[1]);
      continue;
    }
    const rule = allowed[room];
    if (!isTest && rule !== '*' && !rule.includes(targetRoom)) {
      problems.push(`${relative('.', file)}: room "${room}" must not import from "${targetRoom}"`);
    }
    if (target !== join(root, targetRoom, 'index.ts') && targetRoom !== '..') {
      problems.push(`${relative('.', file)}: enter "${targetRoom}" through its index.ts, not ${match[1]}`);
    }
  }
}
/** Areas of the controllers meet through API objects; what they share is entered by its door. */
function checkArea(file, target, written) {
  const area = (path) => relative(join(root, 'controllers'), path).split(sep)[0];
  if (area(file) === area(target) || area(file) === 'index.ts') return;
  if (target !== join(root, 'controllers', 'shared', 'index.ts')) {
    problems.push(`${relative('.', file)}: controllers share through controllers/shared/index.ts only, not ${written}`);
  }
}

if (problems.length > 0) {
  console.error(problems.join('\n'));
  process.exit(1);
}
