import { zodResolver } from '@hookform/resolvers/zod';
import { Button, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
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
import { lazyPart } from '../../components/lazy-part.tsx';
import { Panel } from '../../components/Panel.tsx';
import { texts as sharedTexts } from '../../language/texts.ts';
import { useStateAcrossLanguages } from '../../language/use-state-across-languages.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
import { CurrentPasswordField } from './CurrentPasswordField.tsx';
import { texts } from './texts.ts';
import { useCurrentPassword } from './use-current-password.ts';

/** The script of the setup, with its QR code library, is loaded on demand, because an account rarely needs it more than once. */
const SecondFactorSetup = lazyPart(
  async () => (await import('./SecondFactorSetup.tsx')).SecondFactorSetup,
  ({ onRetry }) => <LoadFailed message={sharedTexts.partFailed} onRetry={onRetry} />,
  () => <Loading label={sharedTexts.loading} />,
);

/** Card of the profile that shows whether two-step verification (sign-in with a second factor) is on, and switches it on or off. */
export function SecondFactorCard() {
  const secondFactor = useSecondFactor();
  /** The secret for the authenticator app while the setup is shown; null otherwise. A change of the language does not end the setup. */
  const [secret, setSecret] = useStateAcrossLanguages<SecondFactorSecret | null>(
    'secret of the second factor',
    null,
  );

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
    // Also after a cancelled setup: if the response to the first code was lost, two-step verification may be on.
    invalidateSecondFactor();
  }

  return (
    <Panel title={texts.secondFactor}>
      {secondFactor.isPending && <Loading label={sharedTexts.loading} />}
      {secondFactor.isLoadingError && (
        <LoadFailed message={texts.secondFactorFailed} onRetry={() => void secondFactor.refetch()} />
      )}
      {secret !== null && <SecondFactorSetup {...secret} onDone={finish} onCancel={finish} />}
      {secret === null && secondFactor.data && (
        <Stack>
          <Text>
            {secondFactor.data.enabled
              ? texts.secondFactorOn(secondFactor.data.recovery_codes_left)
              : texts.secondFactorOff}
          </Text>
          {/* With different keys, each button has its own form: a password typed for one action does not stay in the form of the other. */}
          {secondFactor.data.enabled ? (
            <SensitiveActionButton
              key="off"
              label={texts.secondFactorRemove}
              question={texts.secondFactorRemoveQuestion}
              hint={texts.secondFactorRemoveHint}
              onPress={switchOff}
            />
          ) : (
            <SensitiveActionButton key="on" label={texts.secondFactorBegin} onPress={begin} />
          )}
        </Stack>
      )}
    </Panel>
  );
}

interface SensitiveActionButtonProps {
  readonly label: string;
  /** Title of a dialog that asks for a confirmation; without it, the button acts immediately. */
  readonly question?: string;
  /** Text of the dialog, which says what the action changes. */
  readonly hint?: string;
  readonly onPress: (currentPassword: string) => Promise<ActionResult>;
}

/** Button for an action for which the API may require the current password. In that case, a password field appears above the button. */
function SensitiveActionButton({ label, question, hint, onPress }: SensitiveActionButtonProps) {
  const currentPasswordState = useCurrentPassword();
  const resolver = useMemo(
    () => zodResolver(z.object({ currentPassword: currentPasswordState.schema })),
    [currentPasswordState.schema],
  );
  const form = useForm({ resolver, defaultValues: { currentPassword: '' } });

  const [isConfirming, setConfirming] = useState(false);

  const run = form.handleSubmit(async ({ currentPassword }) => {
    const result = await onPress(currentPassword);
    const passwordError = currentPasswordState.handlePasswordError(result);
    if (passwordError !== null) form.setError('currentPassword', passwordError, { shouldFocus: true });
    else if (!result.success) announce(result);
  });

  return (
    <FormProvider {...form}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          // Once the API has required the current password, entering it confirms the action, and no dialog appears.
          if (question !== undefined && !currentPasswordState.isRequired) setConfirming(true);
          else void run();
        }}
        noValidate
      >
        <Stack>
          {currentPasswordState.isRequired && <CurrentPasswordField />}
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
      {isConfirming && question !== undefined && (
        <ConfirmDialog
          title={question}
          confirmLabel={label}
          isDestructive
          onClose={() => setConfirming(false)}
          onConfirm={async () => {
            await run();
            setConfirming(false);
          }}
        >
          <Text>{hint}</Text>
        </ConfirmDialog>
      )}
    </FormProvider>
  );
}
