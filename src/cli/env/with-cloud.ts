import { connect, type OpenStack } from '../../openstack/index.ts';
import type { CommandContext } from '../context.ts';
import { readClouds } from './read-cloud.ts';

/** Flags of all verbs that use a cloud of clouds.yaml. */
export interface CloudChoiceOptions {
  cloud?: string;
  region?: string;
}

/** Connects to a cloud, runs the work, and always closes the connections. */
export async function withCloud<T>(
  { cloud: name, region }: CloudChoiceOptions,
  context: CommandContext,
  work: (cloud: OpenStack) => Promise<T>,
): Promise<T> {
  const clouds = await readClouds(context);
  const config = await clouds.cloud(name, { region });
  for (const warning of config.warnings) context.stderr(`capstan: warning: ${warning}\n`);
  const cloud = connect(config, { env: context.env });
  try {
    return await work(cloud);
  } finally {
    await cloud.close();
  }
}
