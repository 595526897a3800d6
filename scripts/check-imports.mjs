// Keeps the rooms of src/ in order: imports between rooms go one way and through the room's door (index.ts); doors export no
// test kits (tests have a door of their own); time comes from a Clock; nothing asks whether it runs in a test.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';

/** room -> rooms it imports from; what is allowed and not used is a problem too */
const allowed = {
  machinery: [],
  api: ['machinery'],
  store: ['machinery'],
  apiserver: ['store', 'machinery', 'pki'],
  client: ['machinery'],
  runtime: ['client', 'machinery'],
  pki: ['machinery'],
  template: ['machinery'],
  artifacts: ['template', 'machinery'],
  openstack: ['machinery'],
  hosting: ['pki', 'api', 'machinery'],
  controllers: ['hosting', 'runtime', 'client', 'openstack', 'pki', 'artifacts', 'template', 'api', 'machinery'],
  webhooks: ['runtime', 'client', 'pki', 'api', 'machinery'],
  housekeeping: ['runtime', 'client', 'pki', 'api', 'machinery'],
  simkube: [
    'housekeeping',
    'apiserver',
    'client',
    'runtime',
    'openstack',
    'template',
    'pki',
    'api',
    'store',
    'machinery',
  ],
  podhost: ['simkube', 'housekeeping', 'apiserver', 'client', 'runtime', 'api', 'machinery'],
  simulator: ['simkube', 'apiserver', 'client', 'runtime', 'pki', 'api', 'store', 'machinery'],
  dashboard: ['controllers', 'runtime', 'client', 'api', 'machinery'],
  cli: '*',
};

/** Real time is taken here, and why. Everywhere else a Clock is at hand. */
const realTime = {
  'machinery/time/clock.ts': 'the clock itself',
  'cli/context.ts': 'ends the process when nothing else does any more',
  'store/directory-lock.ts': 'other processes, maybe on other hosts, compare these times',
  'client/http/port-forward.ts': 'bounds the close of a socket whose peer is gone',
};
const realTimePattern = /\bDate\.now\(|\bnew Date\(\)|(?<![.\w])set(?:Timeout|Interval)\(/;

/** folders of test kits; a room's own is a door for tests */
const testDoors = ['testing', 'testkit'];

const root = resolve('src');
const problems = [];
const used = new Set();
const tookRealTime = new Set();
for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !entry.name.endsWith('.ts')) continue;
  const file = join(entry.parentPath ?? entry.path, entry.name);
  const room = relative(root, file).split(sep)[0];
  // A test may reach across rooms to build the real thing around the unit under test.
  const isTest = entry.name.endsWith('.test.ts') || testDoors.some((door) => file.includes(`${sep}${door}${sep}`));
  if (!(room in allowed)) {
    problems.push(`${relative('.', file)}: "${room}" is not a room of the plan`);
    continue;
  }
  const text = readFileSync(file, 'utf8');
  const name = relative(root, file).split(sep).join('/');
  if (!isTest) checkText(file, name, text);
  for (const match of text.matchAll(/(?:from|import)\s*\(?\s*'(\.[^']+)'/g)) {
    const target = resolve(dirname(file), match[1]);
    const targetRoom = relative(root, target).split(sep)[0];
    if (targetRoom === room) {
      if (room === 'controllers' && !isTest) checkArea(file, target, match[1]);
      continue;
    }
    const rule = allowed[room];
    if (!isTest) used.add(`${room} -> ${targetRoom}`);
    if (!isTest && rule !== '*' && !rule.includes(targetRoom)) {
      problems.push(`${relative('.', file)}: room "${room}" must not import from "${targetRoom}"`);
    }
    if (isTest && testDoors.some((door) => target === join(root, targetRoom, door, 'index.ts'))) continue;
    if (target !== join(root, targetRoom, 'index.ts') && targetRoom !== '..') {
      problems.push(`${relative('.', file)}: enter "${targetRoom}" through its index.ts, not ${match[1]}`);
    }
  }
}
for (const [room, rule] of Object.entries(allowed)) {
  if (rule === '*' || !existsSync(join(root, room))) continue;
  for (const target of rule) {
    if (!used.has(`${room} -> ${target}`)) {
      problems.push(
        `scripts/check-imports.mjs: room "${room}" does not import from "${target}": take it off the table`,
      );
    }
  }
}
for (const name of Object.keys(realTime)) {
  if (!tookRealTime.has(name))
    problems.push(`scripts/check-imports.mjs: ${name} takes no real time: take it off the list`);
}

function checkText(file, name, text) {
  if (name.endsWith('index.ts') && testDoors.some((door) => text.includes(`/${door}/`))) {
    problems.push(`${relative('.', file)}: a door must not export a test kit`);
  }
  if (text.includes('NODE_ENV')) problems.push(`${relative('.', file)}: must not ask which environment it runs in`);
  for (const [index, line] of text.split('\n').entries()) {
    if (!realTimePattern.test(line)) continue;
    if (name in realTime) tookRealTime.add(name);
    else problems.push(`${relative('.', file)}:${index + 1}: takes real time where a Clock is to be used`);
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
