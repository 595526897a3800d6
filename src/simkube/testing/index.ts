// Second public interface of the room, for tests only.
export { createProgramLab, type LabPod, type ProgramLab } from '../programs/testing/lab.ts';
