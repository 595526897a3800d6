import { BootstrapInputError } from './machine-content.ts';

/** Data available to files with `contentFormat: Template`. */
export interface FileTemplateData {
  controlPlane?: { version: string };
}

const maxRenderedBytes = 1 << 20;
const conditional = /^(else\s+)?if\s+(\S+)$/;

/** An open `if`: whether its text is kept, and whether one of its branches was taken. */
interface Branch {
  keeps: boolean;
  taken: boolean;
  outer: boolean;
}

interface Action {
  start: number;
  end: number;
  words: string;
  trimsBefore: boolean;
  trimsAfter: boolean;
}

/** Yields the actions between double braces; comments may contain braces. Runs in linear time for any input. */
function* actionsOf(template: string): Generator<Action> {
  for (let start = template.indexOf('{{'); start >= 0; ) {
    const trimsBefore = /^-\s/.test(template.slice(start + 2, start + 4));
    const inside = start + (trimsBefore ? 4 : 2);
    const comment = /^\s{0,100}\/\*/.test(template.slice(inside, inside + 102));
    const commentEnd = comment ? template.indexOf('*/', inside) : inside;
    const close = commentEnd < 0 ? -1 : template.indexOf('}}', commentEnd);
    if (close < 0) return;
    const text = template.slice(inside, close);
    const trimsAfter = /\s-$/.test(text.slice(-2));
    const words = (trimsAfter ? text.slice(0, -2) : text).trim();
    yield { start, end: close + 2, words, trimsBefore, trimsAfter };
    start = template.indexOf('{{', close + 2);
  }
}

/**
 * Renders a file template. Supports a subset of Go templates: values by path, `if`, `else if`, `else`, `end`, comments
 * and space trimming. Other actions are refused by name instead of reaching the machine unrendered.
 */
export function renderFileTemplate(path: string, template: string, data: FileTemplateData): string {
  const refuse = (problem: string): never => {
    throw new BootstrapInputError(`file ${path} is not a template that can be filled in: ${problem}`);
  };
  const lookUp = (name: string): string | object | undefined => {
    if (name === '.controlPlane') return data.controlPlane;
    if (name === '.controlPlane.version') return data.controlPlane?.version;
    return refuse(`${name} is not known; there is .controlPlane.version`);
  };
  const branches: Branch[] = [];
  let out = '';
  let end = 0;
  let trimNext = false;
  const keeps = (): boolean => branches.at(-1)?.keeps ?? true;
  const emit = (text: string, trimEnd: boolean): void => {
    if (!keeps()) return;
    const begun = trimNext ? text.trimStart() : text;
    out += trimEnd ? begun.trimEnd() : begun;
  };
  for (const action of actionsOf(template)) {
    emit(template.slice(end, action.start), action.trimsBefore);
    end = action.end;
    trimNext = action.trimsAfter;
    const { words } = action;
    const test = conditional.exec(words);
    const branch = branches.at(-1);
    if (words.startsWith('/*')) continue;
    if (test?.[2] !== undefined && test[1] === undefined) {
      const taken = Boolean(lookUp(test[2]));
      branches.push({ keeps: keeps() && taken, taken, outer: keeps() });
    } else if (test?.[2] !== undefined || words === 'else') {
      if (!branch) return refuse(`there is an "${words}" without an if`);
      const chosen = !branch.taken && (test?.[2] === undefined || Boolean(lookUp(test[2])));
      branch.keeps = branch.outer && chosen;
      branch.taken ||= chosen;
    } else if (words === 'end') {
      if (!branches.pop()) return refuse('there is an end without an if');
    } else if (words.startsWith('.')) {
      const value = lookUp(words);
      if (typeof value === 'object') return refuse(`${words} is not a text`);
      if (keeps()) out += value ?? '<no value>';
    } else return refuse(`"${words}" is not understood`);
  }
  emit(template.slice(end), false);
  if (branches.length > 0) return refuse('an if has no end');
  if (Buffer.byteLength(out) > maxRenderedBytes) return refuse(`it becomes larger than ${maxRenderedBytes} bytes`);
  return out;
}
