import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { startCloudApart } from '../../support/capstan.ts';
import { startController } from '../../support/controller-process.ts';
import { freePorts } from '../../support/ports.ts';
import { families } from './families.ts';
import { playLife } from './life.ts';
import { openStage } from './stage.ts';

export interface StoryOptions {
  readonly directory: string;
  readonly kubeconfig: string;
  readonly say: (line: string) => void;
  /** the name of one story */
  readonly only: string | undefined;
  /** start everything and wait */
  readonly serve: boolean;
  readonly interrupted: Promise<unknown>;
}

/** Starts a simulated cloud and the controllers, and plays the stories one after the other. */
export async function playStories(options: StoryOptions): Promise<void> {
  const { directory, kubeconfig, say, only } = options;
  const chosen = Object.entries(families).filter(([name]) => only === undefined || name === only);
  if (chosen.length === 0) throw new Error(`there is no story ${only}; there are ${Object.keys(families).join(', ')}`);
  const backups = join(directory, 'backups');
  const cloudDirectory = join(directory, 'openstack');
  await mkdir(cloudDirectory);
  const cloud = await startCloudApart(cloudDirectory);
  say('starting the controllers');
  const [port = 0] = await freePorts(2);
  const controller = await startController({ kubeconfig, port, args: ['--backup-directory', backups] });
  try {
    const stage = openStage({ directory, kubeconfig, backups, say });
    const clouds = `--from-file=clouds.yaml=${join(cloudDirectory, 'clouds.yaml')}`;
    await stage.kubectl('create', 'secret', 'generic', 'simulated-cloud', clouds);
    if (options.serve) {
      say(
        `ready: nsenter --net --mount --pid --target PID env KUBECONFIG=${kubeconfig} bash, PID being that of inside.ts`,
      );
      await options.interrupted;
      return;
    }
    for (const [, family] of chosen) await playLife(stage, family);
  } catch (error) {
    say(controller.process.stderr().split('\n').slice(-40).join('\n'));
    throw error;
  } finally {
    await controller.process.stop();
    await cloud.stop();
  }
}
