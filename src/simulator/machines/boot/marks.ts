/** Exists once the first boot has ended, even if the user data failed. */
export const finishedMark = '/var/lib/cloud/instance/boot-finished';

/**
 * Exists if something inside the cloud interrupted the first boot. Without it the simulator itself stopped during the
 * boot.
 */
export const interruptedMark = '/var/lib/cloud/data/interrupted';
