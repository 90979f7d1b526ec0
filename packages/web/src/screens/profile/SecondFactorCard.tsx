import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text } from '@mantine/core';
import { lazy, Suspense, useMemo, useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { z } from 'zod';
import {
  beginSecondFactor,
  disableSecondFactor,
  invalidateSecondFactor,
  type SecondFactorSecret,
  useSecondFactor,
} from '../../api/second-factor.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { texts as shared } from '../../language/texts.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
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
    const result = await disableSecondFactor(currentPassword);
    if (result.success) announce(result);
    return result;
  }

  function finish() {
    setSecret(null);
    invalidateSecondFactor();
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
            <ConfirmedButton
              key="off"
              label={texts.secondFactorRemove}
              question={texts.secondFactorRemoveQuestion}
              hint={texts.secondFactorRemoveHint}
              onPress={switchOff}
            />
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
  /** Asked first, with what will change; without it nothing is asked. */
  readonly question?: string;
  readonly hint?: string;
  readonly onPress: (currentPassword: string) => Promise<ActionResult>;
}

/** A button that asks for the current password when the API wants it. */
function ConfirmedButton({ label, question, hint, onPress }: ConfirmedButtonProps) {
  const current = useCurrentPassword();
  const resolver = useMemo(
    () => zodResolver(z.object({ currentPassword: current.schema })),
    [current.schema],
  );
  const form = useForm({ resolver, defaultValues: { currentPassword: '' } });

  const [isAsking, setAsking] = useState(false);

  const run = form.handleSubmit(async ({ currentPassword }) => {
    const result = await onPress(currentPassword);
    const refusal = current.apiErrorOf(result);
    if (refusal !== null) form.setError('currentPassword', refusal, { shouldFocus: true });
    else if (!result.success) announce(result);
  });

  return (
    <FormProvider {...form}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // Typing the password is the confirmation.
          if (question !== undefined && !current.isAsked) setAsking(true);
          else void run();
        }}
        noValidate
      >
        <Stack>
          {current.isAsked && <CurrentPasswordField />}
          <Button
            type="submit"
            loading={form.formState.isSubmitting}
            style={{ alignSelf: 'flex-start' }}
            {...(question !== undefined && { color: 'eosin', variant: 'outline' })}
          >
            {label}
          </Button>
        </Stack>
      </form>
      {isAsking && question !== undefined && (
        <ConfirmDialog
          title={question}
          confirmLabel={label}
          isGrave
          onClose={() => setAsking(false)}
          onConfirm={async () => {
            await run();
            setAsking(false);
          }}
        >
          <Text>{hint}</Text>
        </ConfirmDialog>
      )}
    </FormProvider>
  );
}
