// The door of the room that runs Pods of the embedded management API: node, scheduler, containers, Services, volumes.
export { type PodHost, type PodHostOptions, startPodHost } from './start.ts';
