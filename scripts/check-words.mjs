import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

// Words of our own that a newcomer from Kubernetes and Cluster API would have to learn, and the field's word for each.
const words = [
  [/wish/i, 'spec or desired'],
  [/troubl/i, 'fault, failure or error'],
  [/\bmend(s|ed|ing)?\b/i, 'repair, correct or remediate'],
  [/behind[ -]?(the|its|our|their|his|her)[ -]?back/i, 'drift, or "by somebody else"'],
  [/goesOn/, 'continues'],
  [/passOf(Life|Deletion)|passOver/, 'reconcileNormal, reconcileDelete'],
  [/bringIntoBeing/, 'ensureExists'],
  [/lookAgain|looksInVain|\bnextLook/, 'requeue, recheck or poll'],
  [/[a-z]Matters\b/, 'a predicate named for the change, as in clusterChanged'],
  [/sighting/i, 'observedState'],
  [/seemingNode|strangersOf/, 'likelyNode, unknownMembers'],
];

// A line that must have such a word all the same says why: `words-ok: reason`.
const textFile = /\.(ts|tsx|mjs|js|md|yaml|yml|json|sh)$/;
const exempt = new Set(['package-lock.json', 'scripts/check-words.mjs', 'scripts/check-words.test.ts']);

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
  maxBuffer: 64 * 1024 * 1024,
})
  .split('\n')
  .filter((file) => textFile.test(file) && !exempt.has(file));

const findings = [];
for (const file of files) {
  const paths = words.filter(([word]) => word.test(file));
  for (const [word, instead] of paths) findings.push(`${file}: the name of the file has ${word}; say ${instead}`);
  let text;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    continue; // deleted, and not committed yet
  }
  if (!words.some(([word]) => word.test(text))) continue;
  text.split('\n').forEach((line, index) => {
    if (line.includes('words-ok:')) return;
    for (const [word, instead] of words) {
      const found = word.exec(line);
      if (found) findings.push(`${file}:${index + 1}: "${found[0]}"; say ${instead}`);
    }
  });
}

if (findings.length > 0) {
  process.stderr.write(
    `${findings.join('\n')}\n${findings.length} words of a private dialect (scripts/check-words.mjs)\n`,
  );
  process.exit(1);
}
