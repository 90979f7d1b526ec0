import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { z } from 'zod';
import { announce } from '../../announce.ts';
import type { ActionResult } from '../../api/action-result.ts';
import {
  beginSecondFactor,
  renewSecondFactor,
  type SecondFactorSecret,
  switchSecondFactorOff,
  useSecondFactor,
} from '../../api/second-factor.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { texts as shared } from '../../texts.ts';
import { CurrentPasswordField } from './CurrentPasswordField.tsx';
import { texts } from './texts.ts';
import { useCurrentPassword } from './use-current-password.ts';

/** Drawing the QR code is needed once in the life of an account. */
const SecondFactorSetup = lazy(async () => {
  const { SecondFactorSetup } = await import('./SecondFactorSetup.tsx');
  return { default: SecondFactorSetup };
});

/** Two-step verification: whether it is on, and switching it. */
export function SecondFactorCard() {
  const secondFactor = useSecondFactor();
  const [secret, setSecret] = useState<SecondFactorSecret | null>(null);

  async function begin(currentPassword: string): Promise<ActionResult> {
    const result = await beginSecondFactor(currentPassword);
    if (result.success) setSecret({ secret: result.secret, uri: result.uri });
    return result;
  }

  async function switchOff(currentPassword: string): Promise<ActionResult> {
    const result = await switchSecondFactorOff(currentPassword);
    if (result.success) announce(result);
    return result;
  }

  function finish() {
    setSecret(null);
    renewSecondFactor();
  }

  return (
    <Panel title={texts.secondFactor}>
      {secondFactor.isPending && <Loading label={shared.loading} />}
      {secondFactor.isLoadingError && (
        <LoadFailed message={texts.secondFactorFailed} onRetry={() => void secondFactor.refetch()} />
      )}
      {secret !== null && (
        <Suspense fallback={<Loading label={shared.loading} />}>
          <SecondFactorSetup {...secret} onDone={finish} onCancel={() => setSecret(null)} />
        </Suspense>
      )}
      {secret === null && secondFactor.data && (
        <Stack>
          <Text>
            {secondFactor.data.enabled
              ? texts.secondFactorOn(secondFactor.data.recovery_codes_left)
              : texts.secondFactorOff}
          </Text>
          {secondFactor.data.enabled ? (
            <ConfirmedButton key="off" label={texts.secondFactorRemove} onPress={switchOff} isGrave />
          ) : (
            <ConfirmedButton key="on" label={texts.secondFactorBegin} onPress={begin} />
          )}
        </Stack>
      )}
    </Panel>
  );
}

interface ConfirmedButtonProps {
  readonly label: string;
  readonly isGrave?: boolean;
  readonly onPress: (currentPassword: string) => Promise<ActionResult>;
}

/** A button that asks for the current password when the API wants it. */
function ConfirmedButton({ label, isGrave = false, onPress }: ConfirmedButtonProps) {
  const current = useCurrentPassword();
  const resolver = useMemo(
    () => zodResolver(z.object({ currentPassword: current.schema })),
    [current.schema],
  );
  const form = useForm({ resolver, defaultValues: { currentPassword: '' } });

  const submit = form.handleSubmit(async ({ currentPassword }) => {
    const result = await onPress(currentPassword);
    const refusal = current.refusalOf(result);
    if (refusal !== null) form.setError('currentPassword', refusal, { shouldFocus: true });
    else if (!result.success) announce(result);
  });

  return (
    <FormProvider {...form}>
      <form onSubmit={(event) => void submit(event)} noValidate>
        <Stack>
          {current.isAsked && <CurrentPasswordField />}
          <Button
            type="submit"
            loading={form.formState.isSubmitting}
            style={{ alignSelf: 'flex-start' }}
            {...(isGrave && { color: 'eosin', variant: 'outline' })}
          >
            {label}
          </Button>
        </Stack>
      </form>
    </FormProvider>
  );
}
