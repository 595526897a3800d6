import { BootstrapInputError } from './machine-content.ts';

/** What a file with `contentFormat: Template` may ask for. */
export interface FileTemplateData {
  controlPlane?: { version: string };
}

const maxRenderedBytes = 1 << 20;
const action = /\{\{(-\s)?\s*(\/\*[\s\S]*?\*\/|[\s\S]*?)\s*(\s-)?\}\}/g;
const conditional = /^(else\s+)?if\s+(\S+)$/;

/** One `if` that is open: whether text in it is kept, and whether a branch of it was taken. */
interface Branch {
  keeps: boolean;
  taken: boolean;
  outer: boolean;
}

/**
 * Fills in a file. Of Go's template language it knows what the data gives a use for: values by their path, `if`, `else if`,
 * `else`, `end`, comments and the trimming of space. Anything else is refused by name rather than copied to the machine.
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
  for (const match of template.matchAll(action)) {
    emit(template.slice(end, match.index), match[1] !== undefined);
    end = match.index + match[0].length;
    trimNext = match[3] !== undefined;
    const words = (match[2] ?? '').trim();
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
