// The used messages of etcd's Cluster and Maintenance services.
import { bytesField } from '../../../machinery/index.ts';
import type { EtcdAlarm, EtcdMember, EtcdStatus } from './types.ts';
import { idOf, messageOf, numberMessage, numberOf, parseId, readFields, textOf } from './wire.ts';

/** Linearizable, so that a partitioned member does not answer from its own outdated state. */
export const memberListRequest = (): Buffer => numberMessage(1, 1n);
export const memberIdRequest = (id: string): Buffer => numberMessage(1, parseId(id));
export const emptyRequest = (): Buffer => Buffer.alloc(0);
export const addLearnerRequest = (peerUrls: readonly string[]): Buffer =>
  Buffer.concat([...peerUrls.map((url) => bytesField(1, url)), numberMessage(2, 1n)]);
export const disarmRequest = ({ memberId, type }: EtcdAlarm): Buffer =>
  Buffer.concat([
    numberMessage(1, 2n),
    numberMessage(2, parseId(memberId)),
    numberMessage(3, type === 'NOSPACE' ? 1n : 2n),
  ]);

/** Reads a member list; the responses to list, remove and promote share this shape. */
export function readMembers(message: Buffer): EtcdMember[] {
  const members: EtcdMember[] = [];
  for (const field of readFields(message)) if (field.number === 2) members.push(readMember(messageOf(field)));
  return members;
}

/** Returns the id of the added member; the response lists all members after it. */
export function readAddedMember(message: Buffer): string {
  for (const field of readFields(message)) if (field.number === 2) return readMember(messageOf(field)).id;
  return '0';
}

/** Reads one chunk of a snapshot. */
export function readSnapshotPart(message: Buffer): Buffer {
  for (const field of readFields(message)) if (field.number === 3) return messageOf(field);
  return Buffer.alloc(0);
}

function readMember(message: Buffer): EtcdMember {
  const peerUrls: string[] = [];
  const clientUrls: string[] = [];
  const member = { id: '0', name: '', peerUrls, clientUrls, isLearner: false };
  for (const field of readFields(message)) {
    if (field.number === 1) member.id = idOf(field);
    else if (field.number === 2) member.name = textOf(field);
    else if (field.number === 3) peerUrls.push(textOf(field));
    else if (field.number === 4) clientUrls.push(textOf(field));
    else if (field.number === 5) member.isLearner = numberOf(field) !== 0;
  }
  return member;
}

export function readStatus(message: Buffer): EtcdStatus {
  const errors: string[] = [];
  const status = {
    memberId: '0',
    leaderId: '0',
    version: '',
    isLearner: false,
    raftTerm: 0,
    raftIndex: 0,
    raftAppliedIndex: 0,
    dbSizeBytes: 0,
    dbSizeInUseBytes: 0,
    errors,
  };
  for (const field of readFields(message)) {
    if (field.number === 1) {
      for (const header of readFields(messageOf(field))) if (header.number === 2) status.memberId = idOf(header);
    } else if (field.number === 2) status.version = textOf(field);
    else if (field.number === 3) status.dbSizeBytes = numberOf(field);
    else if (field.number === 4) status.leaderId = idOf(field);
    else if (field.number === 5) status.raftIndex = numberOf(field);
    else if (field.number === 6) status.raftTerm = numberOf(field);
    else if (field.number === 7) status.raftAppliedIndex = numberOf(field);
    else if (field.number === 8) errors.push(textOf(field));
    else if (field.number === 9) status.dbSizeInUseBytes = numberOf(field);
    else if (field.number === 10) status.isLearner = numberOf(field) !== 0;
  }
  return status;
}

export function readAlarms(message: Buffer): EtcdAlarm[] {
  const alarms: EtcdAlarm[] = [];
  for (const field of readFields(message)) {
    if (field.number !== 2) continue;
    let memberId = '0';
    let type = 0;
    for (const part of readFields(messageOf(field))) {
      if (part.number === 1) memberId = idOf(part);
      else if (part.number === 2) type = numberOf(part);
    }
    if (type === 1) alarms.push({ memberId, type: 'NOSPACE' });
    else if (type === 2) alarms.push({ memberId, type: 'CORRUPT' });
  }
  return alarms;
}
