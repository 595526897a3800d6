import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { MissingPrerequisite } from '../../conformance/go-build.ts';
import { startCloudApart } from '../../support/capstan.ts';
import { capstan } from '../../support/command.ts';
import { startController } from '../../support/controller-process.ts';
import { freePorts } from '../../support/ports.ts';
import { planeVersions } from '../programs.ts';
import { playChart } from './chart.ts';
import { families, type PlaneFamily } from './families.ts';
import { playInstalled } from './installed.ts';
import { playLife } from './life.ts';
import { openStage } from './stage.ts';

export interface StoryOptions {
  readonly directory: string;
  readonly kubeconfig: string;
  /** path of containerd's socket */
  readonly containerd: string;
  /** path of helm */
  readonly helm: string;
  /** kills everything on the node, and starts it again */
  crashNode(): Promise<void>;
  readonly say: (line: string) => void;
  /** name of a single story */
  readonly only: string | undefined;
  /** starts everything and waits */
  readonly serve: boolean;
  readonly interrupted: Promise<unknown>;
}

/** Stories of an installation from the image. */
const ofTheImage: Readonly<Record<string, (options: StoryOptions) => Promise<void>>> = {
  installed: playInstalled,
  chart: playChart,
};

/** What a story needs; all stories, or only the Kubernetes, without a name. */
export interface StoryNeeds {
  readonly image: boolean;
  readonly helm: boolean;
  /** versions of the planes */
  readonly versions: readonly string[];
}

export function needsOf({ story, serve }: { story?: string | undefined; serve: boolean }): StoryNeeds {
  const names = [...Object.keys(families), ...Object.keys(ofTheImage)];
  if (story !== undefined && !names.includes(story)) {
    throw new MissingPrerequisite(`there is no story ${story}; there are ${names.join(', ')}`);
  }
  const isPlayed = (name: string): boolean => !serve && (story ?? name) === name;
  return {
    image: Object.keys(ofTheImage).some(isPlayed),
    helm: isPlayed('chart'),
    versions: story !== undefined && story in ofTheImage ? [planeVersions[1]] : planeVersions,
  };
}

/** Runs the stories one after the other. */
export async function playStories(options: StoryOptions): Promise<void> {
  const { only, serve } = options;
  const isPlayed = (name: string): boolean => only === undefined || name === only;
  const chosen = Object.entries(families).filter(([name]) => isPlayed(name));
  const installations = Object.entries(ofTheImage).filter(([name]) => isPlayed(name) && !serve);
  if (chosen.length > 0) {
    await playPlanes(
      options,
      chosen.map(([, family]) => family),
    );
  }
  for (const [, play] of installations) await play(options);
}

/** Starts a simulated cloud and the controllers beside the Kubernetes, and runs the lifecycle of planes. */
async function playPlanes(options: StoryOptions, chosen: readonly PlaneFamily[]): Promise<void> {
  const { directory, kubeconfig, say } = options;
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
    for (const family of chosen) await playLife(stage, family);
  } catch (error) {
    say(controller.process.stderr().split('\n').slice(-40).join('\n'));
    throw error;
  } finally {
    await controller.process.stop();
    await capstan(['uninstall', '--kubeconfig', kubeconfig, '--yes', '--include-crd']);
    await cloud.stop();
  }
}
