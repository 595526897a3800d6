import { flagsOf, pathIn, type ShellState, type Tool } from '../../../../../simkube/index.ts';
import { metadataAnswer } from '../../metadata.ts';
import { machineOf } from '../shell-machine.ts';

const metadataAddress = '169.254.169.254';

type Fetched = { readonly text: string } | { readonly exit: number; readonly message: string };

/** Fetches from the metadata service, or from an API on a machine. No other network exists. */
async function fetchUrl(state: ShellState, text: string): Promise<Fetched> {
  const { machine, software } = machineOf(state);
  const given = text.includes('://') ? text : `http://${text}`;
  if (!URL.canParse(given)) return { exit: 3, message: 'URL rejected: Malformed input to a URL function' };
  const url = new URL(given);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (host === metadataAddress) {
    const answer = metadataAnswer(machine, url.pathname);
    return answer === undefined ? { exit: 22, message: 'The requested URL returned error: 404' } : { text: answer };
  }
  const download = software.download?.(url);
  if (download !== undefined) return { text: download };
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  try {
    const service = machine.network.dial(host, port, machine);
    if (!service.api) return { exit: 52, message: 'Empty reply from server' };
    return { text: await service.api.raw(url.pathname + url.search) };
  } catch (error) {
    const code = (error as { code?: string }).code;
    if (code === 'ENOTFOUND') return { exit: 6, message: `Could not resolve host: ${host}` };
    if (code === 'ETIMEDOUT') return { exit: 28, message: `Connection timed out to ${host} port ${port}` };
    return { exit: 7, message: `Failed to connect to ${host} port ${port}: Connection refused` };
  }
}

const curl: Tool = async ({ state, streams }, args) => {
  const { flags, rest, values } = flagsOf(args, 'oHXdumrAbcewT');
  const [url] = rest.filter((each) => !/^\d+$/.test(each));
  if (url === undefined) {
    streams.error("curl: no URL specified!\ncurl: try 'curl --help' for more information\n");
    return 2;
  }
  const fetched = await fetchUrl(state, url);
  if (!('text' in fetched)) {
    const isQuiet = (flags.has('s') || flags.has('silent')) && !flags.has('S') && !flags.has('show-error');
    if (!isQuiet) streams.error(`curl: (${fetched.exit}) ${fetched.message}\n`);
    return fetched.exit;
  }
  const file =
    values.get('o') ?? values.get('output') ?? (flags.has('O') ? new URL(url).pathname.split('/').pop() : undefined);
  if (file === undefined) streams.out(fetched.text);
  else if (file !== '/dev/null') machineOf(state).machine.disk.write(pathIn(state, file), fetched.text);
  return 0;
};

const wget: Tool = async ({ state, streams }, args) => {
  const { values, rest, flags } = flagsOf(args, 'OTtP');
  const [url = ''] = rest;
  const fetched = await fetchUrl(state, url);
  if (!('text' in fetched)) {
    if (!flags.has('q')) streams.error(`wget: ${fetched.message}\n`);
    return 4;
  }
  const file = values.get('O') ?? url.split('/').pop() ?? 'index.html';
  if (file === '-') streams.out(fetched.text);
  else machineOf(state).machine.disk.write(pathIn(state, file), fetched.text);
  return 0;
};

/** Implements `ip addr` and `ip route` in the format scripts parse. */
const ip: Tool = ({ state, streams }, args) => {
  const { machine } = machineOf(state);
  const word = args.find((arg) => !arg.startsWith('-')) ?? '';
  if ('address'.startsWith(word)) {
    for (const [index, port] of machine.server.interfaces.entries()) {
      const device = `ens${3 + index}`;
      streams.out(`${index + 2}: ${device}: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1450 state UP\n`);
      streams.out(`    link/ether ${port.macAddress} brd ff:ff:ff:ff:ff:ff\n`);
      for (const { address } of port.fixedIps) {
        const [family, length] = address.includes(':') ? ['inet6', 64] : ['inet', 24];
        streams.out(`    ${family} ${address}/${length} scope global ${device}\n`);
      }
    }
  } else if ('route'.startsWith(word)) {
    const [first] = machine.addresses;
    const gateway = first?.replace(/\.\d+$/, '.1') ?? '0.0.0.0';
    streams.out(`${args.includes('get') ? '1.1.1.1' : 'default'} via ${gateway} dev ens3 src ${first ?? ''}\n`);
  }
  return 0;
};

/** Succeeds if the port accepts a connection. */
const netcat: Tool = ({ state, streams }, args) => {
  const { rest } = flagsOf(args, 'wqip');
  const [host = '', port = ''] = rest;
  try {
    machineOf(state).machine.network.dial(host, Number(port), machineOf(state).machine);
    return 0;
  } catch (error) {
    streams.error(`nc: connect to ${host} port ${port} (tcp) failed: ${error instanceof Error ? error.message : ''}\n`);
    return 1;
  }
};

export const networkTools: Readonly<Record<string, Tool>> = {
  curl,
  wget,
  ip,
  nc: netcat,
  netcat,
  ping: ({ streams }, args) => {
    const host = args.at(-1) ?? '';
    if (/^[\d.:]+$/.test(host)) return 0;
    streams.error(`ping: ${host}: Temporary failure in name resolution\n`);
    return 2;
  },
};
