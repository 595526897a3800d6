// The door of the audit: what is in a cloud without an owner, and which owners miss something there.
export { type AuditFindings, auditFindings, type OwnersOnRecord } from './findings.ts';
export { type CloudResource, cloudInventory } from './inventory.ts';
export { removeResources } from './removal.ts';
