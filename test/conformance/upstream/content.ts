import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { connectWire, type WireCloud } from '../openstack/compare/wire.ts';

export interface CloudEntry {
  readonly auth: Readonly<Record<string, string>>;
  readonly region_name?: string;
}

/** Resources that every suite needs in a cloud. */
export interface CloudContent {
  readonly clouds: Readonly<Record<string, CloudEntry>>;
  readonly wire: WireCloud;
  readonly image: Named;
  readonly small: Named;
  readonly larger: Named;
  readonly external: Named;
}

interface Named {
  readonly id: string;
  readonly name: string;
}

/** Finds the resources. clouds.yaml needs the clouds `admin` and `openstack`, a member of a project. */
export async function findContent(cloudsYaml: string): Promise<CloudContent> {
  const { clouds } = parse(await readFile(cloudsYaml, 'utf8')) as { clouds: Record<string, CloudEntry> };
  const wire = await connectWire('the cloud', cloudsYaml);
  const { images } = await ask<{ images: Named[] }>(wire, 'image', 'GET', '/v2/images?status=active');
  const { flavors } = await ask<{ flavors: (Named & { ram: number; disk: number })[] }>(
    wire,
    'compute',
    'GET',
    '/flavors/detail',
  );
  const { networks } = await ask<{ networks: Named[] }>(wire, 'network', 'GET', '/v2.0/networks?router:external=true');
  const image = images.find(({ name }) => name.startsWith('cirros')) ?? images[0];
  const [small, larger] = flavors.filter(({ disk }) => disk > 0).sort((a, b) => a.ram - b.ram);
  const external = networks[0];
  if (!image || !small || !larger || !external) {
    throw new Error('the cloud lacks an image, two flavors with disks or an external network');
  }
  return { clouds, wire, image, small, larger, external };
}

/** Sends a request as administrator. Throws unless it succeeds. */
export async function ask<T>(
  wire: WireCloud,
  service: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<T> {
  const answer = await wire.send({ as: 'admin', service, method, path, body });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body as T;
}
