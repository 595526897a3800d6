/** The first boot came to its end, whatever became of the user data. */
export const finishedMark = '/var/lib/cloud/instance/boot-finished';

/** A first boot was cut short by somebody inside the cloud; without it, the simulator itself ended meanwhile. */
export const interruptedMark = '/var/lib/cloud/data/interrupted';
