// Entry point of the audit, which finds cloud resources without an owner, and owners with missing resources.
export { type AuditFindings, auditFindings, type OwnersOnRecord } from './findings.ts';
export { type CloudResource, cloudInventory } from './inventory.ts';
export { removeResources } from './removal.ts';
