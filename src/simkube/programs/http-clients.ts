import { request } from 'node:http';
import { connect as connectTls } from 'node:tls';
import { errorMessage, must } from '../../machinery/index.ts';
import { duplexPair } from '../cluster/duplex-pair.ts';
import { dialWords } from '../dial-words.ts';
import type { SimulatedProcess, SimulatedProgram } from '../process.ts';
import { program } from './running.ts';

/** Bodies are cut beyond this size. */
const maxBody = 1024 * 1024;
const usualTimeoutMs = 15_000;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sends a GET through the Pod's network. Rejects with the network's errors. */
async function get(process: SimulatedProcess, url: URL, timeoutMs: number): Promise<Answer> {
  const isSecure = url.protocol === 'https:';
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const service = process.dial(host, Number(url.port || (isSecure ? 443 : 80)));
  const [near, far] = duplexPair();
  service.accept(far);
  const stream = isSecure ? connectTls({ socket: near, servername: host, rejectUnauthorized: false }) : near;
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      cancel();
      near.destroy();
      reject(error);
    };
    const cancel = process.clock.after(timeoutMs, () => fail(new Error('download timed out')));
    process.signal.addEventListener('abort', () => fail(new Error('interrupted')), { once: true });
    stream.on('error', fail);
    const sent = request({
      createConnection: () => stream,
      path: `${url.pathname}${url.search}`,
      headers: { host: url.host, connection: 'close', 'user-agent': 'simulated', accept: '*/*' },
    });
    sent.on('error', fail);
    sent.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => {
        if (body.length < maxBody) body += text;
      });
      response.on('error', fail);
      response.on('end', () => {
        cancel();
        near.destroy();
        resolve({ status: response.statusCode ?? 0, body });
      });
    });
    sent.end();
  });
}

interface Options {
  readonly url: URL | undefined;
  readonly isQuiet: boolean;
  readonly isHead: boolean;
  /** `-` for standard output */
  readonly target: string | undefined;
  readonly fails: boolean;
  readonly timeoutMs: number;
  readonly format: string | undefined;
}

/** `valued`: letters of flags that take the next argument */
function parse(args: readonly string[], valued: string, letters: { quiet: string; output: string }): Options {
  const values = new Map<string, string>();
  const flags = new Set<string>();
  const rest: string[] = [];
  for (let i = 0; i < args.length; i++) {
    const arg = must(args[i], 'args[i]');
    if (arg.startsWith('--')) {
      const [name = '', value] = arg.slice(2).split('=', 2);
      flags.add(name);
      if (value !== undefined) values.set(name, value);
    } else if (arg.startsWith('-') && arg.length > 1) {
      for (let at = 1; at < arg.length; at++) {
        flags.add(arg.charAt(at));
        if (!valued.includes(arg.charAt(at))) continue;
        values.set(arg.charAt(at), arg.slice(at + 1) || (args[++i] ?? ''));
        break;
      }
    } else rest.push(arg);
  }
  const text = rest[0];
  const seconds = Number(values.get('T') ?? values.get('m') ?? values.get('timeout') ?? values.get('max-time'));
  return {
    url: text === undefined ? undefined : urlOf(text),
    isQuiet: flags.has(letters.quiet) || flags.has('quiet') || flags.has('silent'),
    isHead: flags.has('spider') || flags.has('I'),
    target: values.get(letters.output) ?? values.get('output-document') ?? values.get('output'),
    fails: flags.has('f') || flags.has('fail'),
    timeoutMs: seconds > 0 ? Math.min(seconds, 600) * 1000 : usualTimeoutMs,
    format: values.get('w') ?? values.get('write-out'),
  };
}

function urlOf(text: string): URL | undefined {
  const whole = /^https?:\/\//i.test(text) ? text : `http://${text}`;
  return URL.canParse(whole) ? new URL(whole) : undefined;
}

function write(process: SimulatedProcess, text: string): void {
  if (process.screen) process.screen(text);
  else if (text !== '') for (const line of text.replace(/\n$/, '').split('\n')) process.log(line);
}

/** wget with the options of busybox. */
export const wgetProgram = (): SimulatedProgram =>
  program(async (process) => {
    const options = parse(process.argv.slice(1), 'OToPUYt', { quiet: 'q', output: 'O' });
    const { url, target, isHead } = options;
    if (!url) {
      process.log('wget: bad address');
      return 1;
    }
    const say = (text: string): void => {
      if (!options.isQuiet) process.log(text);
    };
    say(`Connecting to ${url.host}`);
    let answer: Answer;
    try {
      answer = await get(process, url, options.timeoutMs);
    } catch (error) {
      const isUnknown = (error as { code?: string }).code === 'ENOTFOUND';
      process.log(
        isUnknown
          ? `wget: bad address '${url.host}'`
          : `wget: can't connect to remote host (${url.hostname}): ${words(error)}`,
      );
      return 1;
    }
    if (answer.status >= 400) {
      process.log(`wget: server returned error: HTTP/1.1 ${answer.status}`);
      return 1;
    }
    if (isHead) {
      say('remote file exists');
      return 0;
    }
    if (target === '-') write(process, answer.body);
    else {
      const name = target ?? (url.pathname.split('/').at(-1) || 'index.html');
      say(`saving to '${name}'`);
      if (name !== '/dev/null') process.files.write(name.startsWith('/') ? name : `/${name}`, answer.body);
      say(`'${name}' saved`);
    }
    return 0;
  });

export const curlProgram = (): SimulatedProgram =>
  program(async (process) => {
    const options = parse(process.argv.slice(1), 'omwHXdAuxEr', { quiet: 's', output: 'o' });
    const { url, target } = options;
    if (!url) {
      process.log('curl: (3) URL rejected: Malformed input to a URL function');
      return 3;
    }
    let answer: Answer;
    try {
      answer = await get(process, url, options.timeoutMs);
    } catch (error) {
      const isUnknown = (error as { code?: string }).code === 'ENOTFOUND';
      const port = url.port || (url.protocol === 'https:' ? '443' : '80');
      const said = isUnknown
        ? `curl: (6) Could not resolve host: ${url.hostname}`
        : `curl: (7) Failed to connect to ${url.hostname} port ${port}: ${words(error)}`;
      if (!options.isQuiet) process.log(said);
      return isUnknown ? 6 : 7;
    }
    if (options.fails && answer.status >= 400) {
      if (!options.isQuiet) process.log(`curl: (22) The requested URL returned error: ${answer.status}`);
      return 22;
    }
    if (options.isHead) write(process, `HTTP/1.1 ${answer.status}\n`);
    else if (target === undefined || target === '-') write(process, answer.body);
    else if (target !== '/dev/null') process.files.write(target.startsWith('/') ? target : `/${target}`, answer.body);
    if (options.format !== undefined) {
      write(process, options.format.replaceAll('%{http_code}', String(answer.status)).replaceAll('\\n', '\n'));
    }
    return 0;
  });

function words(error: unknown): string {
  return (error as { code?: string }).code === undefined ? errorMessage(error) : dialWords(error);
}
