import type { Route } from './route.ts';
import { grantBundleRoute, withdrawBundleRoute } from './routes/admin-grants.ts';
import { issueKeyRoute, listKeysRoute, revokeKeyRoute } from './routes/admin-keys.ts';
import { limitTenantRoute } from './routes/admin-limits.ts';
import { changeTenantPolicyRoute, tenantPolicyRoute } from './routes/admin-policy.ts';
import {
  createTenantRoute,
  listTenantsRoute,
  resumeTenantRoute,
  suspendTenantRoute,
  tenantRoute,
} from './routes/admin-tenants.ts';
import {
  bundleRevisionRoute,
  bundleRevisionsRoute,
  bundleRoute,
  listBundlesRoute,
  publishBundleRoute,
  rollbackBundleRoute,
} from './routes/bundles.ts';
import { catalogDiagnosticsRoute } from './routes/catalog-diagnostics.ts';
import { catalogPromptRoute } from './routes/catalog-prompt.ts';
import { catalogRoute } from './routes/catalog.ts';
import { healthRoute, readyRoute } from './routes/health.ts';
import { loadSkillResourceRoute } from './routes/load-skill-resource.ts';
import { loadSkillRoute } from './routes/load-skill.ts';
import { listActivationsRoute, releaseActivationRoute, releaseSessionRoute } from './routes/sessions.ts';
import { changePolicyRoute, explainPolicyRoute, policyRoute } from './routes/policy.ts';
import { receiptsRoute, usageRoute } from './routes/records.ts';
import { skillRoute } from './routes/skill.ts';
import { toolsRoute } from './routes/tools.ts';
import { beginUploadRoute, completeUploadRoute, uploadRoute } from './routes/uploads.ts';
import { validateRoute } from './routes/validate.ts';

/** Every route. What is not here does not exist, and what is not `public` needs a credential. */
export const ROUTES: readonly Route[] = [
  catalogRoute,
  catalogPromptRoute,
  catalogDiagnosticsRoute,
  skillRoute,
  toolsRoute,
  loadSkillRoute,
  loadSkillResourceRoute,
  listActivationsRoute,
  releaseActivationRoute,
  releaseSessionRoute,
  listBundlesRoute,
  bundleRoute,
  publishBundleRoute,
  bundleRevisionsRoute,
  bundleRevisionRoute,
  rollbackBundleRoute,
  beginUploadRoute,
  uploadRoute,
  completeUploadRoute,
  validateRoute,
  policyRoute,
  changePolicyRoute,
  explainPolicyRoute,
  usageRoute,
  receiptsRoute,
  createTenantRoute,
  listTenantsRoute,
  tenantRoute,
  suspendTenantRoute,
  resumeTenantRoute,
  issueKeyRoute,
  listKeysRoute,
  revokeKeyRoute,
  tenantPolicyRoute,
  changeTenantPolicyRoute,
  limitTenantRoute,
  grantBundleRoute,
  withdrawBundleRoute,
  healthRoute,
  readyRoute,
];
