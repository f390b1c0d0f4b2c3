import type { TemplateJson, TemplateResource } from './synthesized.ts';
import { placeOf, textOf } from './synthesized.ts';

/** A statement of a policy, wherever in a template it is. */
export interface Statement {
  readonly where: string;
  readonly effect: string;
  readonly actions: readonly string[];
  readonly resources: readonly string[];
  readonly principals: readonly string[];
}

/** Every statement: policies of roles, buckets and queues, trust of roles, permissions of functions. */
export function statementsOf(template: TemplateJson): Statement[] {
  return Object.values(template.Resources).flatMap((resource) => [
    ...inPolicies(resource),
    ...(resource.Type === 'AWS::Lambda::Permission' ? [permission(resource)] : []),
  ]);
}

/** Policies that AWS wrote and may widen. */
export function managedPoliciesOf(template: TemplateJson): { where: string; policy: string }[] {
  return Object.values(template.Resources).flatMap((resource) =>
    list(resource.Properties?.['ManagedPolicyArns']).map((policy) => ({
      where: placeOf(resource),
      policy: textOf(policy),
    })),
  );
}

/** In nag's words: `Action::s3:*`. A statement of what is not meant names everything else. */
export function wildcardsOf(template: TemplateJson): { where: string; pattern: string }[] {
  const found = statementsOf(template).flatMap(({ where, actions, resources }) => [
    ...actions.filter(isWild).map((action) => ({ where, pattern: `Action::${action}` })),
    ...resources.filter(isWild).map((resource) => ({ where, pattern: `Resource::${resource}` })),
  ]);
  const managed = managedPoliciesOf(template).map(({ where, policy }) => ({
    where,
    pattern: `Policy::${policy}`,
  }));
  return [...found, ...managed];
}

const isWild = (text: string): boolean => /[*?]/.test(text);

function inPolicies(resource: TemplateResource): Statement[] {
  const found: Statement[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    const fields = value as Record<string, unknown>;
    if ('Effect' in fields && ('Action' in fields || 'NotAction' in fields)) {
      found.push({
        where: placeOf(resource),
        effect: String(fields['Effect']),
        actions: 'NotAction' in fields ? ['*'] : list(fields['Action']).map(textOf),
        resources: 'NotResource' in fields ? ['*'] : list(fields['Resource']).map(textOf),
        principals: 'NotPrincipal' in fields ? ['*'] : principalsOf(fields['Principal']),
      });
    } else Object.values(fields).forEach(visit);
  };
  visit(resource.Properties);
  return found;
}

function permission(resource: TemplateResource): Statement {
  const properties = resource.Properties ?? {};
  return {
    where: placeOf(resource),
    effect: 'Allow',
    actions: list(properties['Action']).map(textOf),
    // Without a source anybody's distribution would do.
    resources: [...list(properties['FunctionName']), properties['SourceArn'] ?? '*'].map(textOf),
    principals: list(properties['Principal']).map(textOf),
  };
}

function principalsOf(given: unknown): string[] {
  if (typeof given === 'string') return [given];
  return Object.values((given ?? {}) as Record<string, unknown>).flatMap((value) => list(value).map(textOf));
}

function list(value: unknown): unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? (value as unknown[]) : [value];
}
