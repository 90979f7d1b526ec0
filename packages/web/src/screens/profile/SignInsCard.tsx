import type { SignIn } from '@lamina/contract';
import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { endAllSignIns, endOtherSignIns, endSignIn, useSignIns } from '../../api/sign-ins.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { useSettled } from '../../components/use-settled.ts';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import type { ActionResult } from '../../notifications/action-result.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './SignInsCard.module.css';
import { texts } from './texts.ts';

/** Card of the profile with the sign-ins of the account. The user can end another one, all others, or all including the current one. */
export function SignInsCard() {
  const signIns = useSignIns();
  return (
    <Panel title={texts.signIns}>
      {signIns.isPending && <Loading label={sharedTexts.loading} />}
      {signIns.isLoadingError && (
        <LoadFailed message={texts.signInsFailed} onRetry={() => void signIns.refetch()} />
      )}
      {signIns.data && <SignIns signIns={signIns.data} />}
    </Panel>
  );
}

function SignIns({ signIns }: { readonly signIns: readonly SignIn[] }) {
  const navigate = useNavigate();
  const [isRunning, setRunning] = useState(false);
  const isSettled = useSettled(signIns.map(({ id }) => id).join());
  const isBusy = isRunning || !isSettled; // also true for 700 ms after rows have moved

  /** Runs an action and shows its result. Meanwhile, all buttons are disabled. */
  async function run(action: () => Promise<ActionResult>): Promise<ActionResult> {
    setRunning(true);
    const result = await action();
    announce(result);
    setRunning(false);
    return result;
  }

  async function signOutEverywhere() {
    const result = await run(endAllSignIns);
    if (result.success) await navigate('/auth/login');
  }

  return (
    <Stack>
      <Text c="dimmed">{texts.signInsHint}</Text>
      <ul className={classes.list}>
        {signIns.map((signIn) => (
          <SignInRow
            key={signIn.id}
            signIn={signIn}
            isBusy={isBusy}
            onEnd={() => void run(() => endSignIn(signIn.id))}
          />
        ))}
      </ul>
      <Group gap="sm">
        {signIns.length > 1 && (
          <Button variant="default" disabled={isBusy} onClick={() => void run(endOtherSignIns)}>
            {texts.endOtherSignIns}
          </Button>
        )}
        <Button
          variant="outline"
          color="eosin" // the theme's rose, named after the stain
          disabled={isBusy}
          onClick={() => void signOutEverywhere()}
        >
          {texts.endAllSignIns}
        </Button>
      </Group>
    </Stack>
  );
}

interface SignInRowProps {
  readonly signIn: SignIn;
  readonly isBusy: boolean;
  readonly onEnd: () => void;
}

function SignInRow({ signIn, isBusy, onEnd }: SignInRowProps) {
  const { address: ipAddress } = signIn;
  const browser = signIn.browser ?? texts.unknownBrowser;
  return (
    <li className={classes.row}>
      <div className={classes.breakAnywhere}>
        <Group gap="xs">
          <Text fw={600}>{browser}</Text>
          {signIn.current && <Badge variant="light">{texts.thisSignIn}</Badge>}
        </Group>
        <Text size="sm" c="dimmed">
          {texts.signedIn(formatDateAndTime(signIn.created_at))}
          {ipAddress !== null && ` · ${ipAddress}`}
        </Text>
        <Text size="sm" c="dimmed">
          {texts.lastUsed(formatDateAndTime(signIn.last_used_at))}
        </Text>
      </div>
      {!signIn.current && (
        <Button
          size="sm"
          variant="default"
          disabled={isBusy}
          onClick={onEnd}
          aria-label={texts.endSignInOf(browser, formatDateAndTime(signIn.created_at))}
        >
          {texts.endSignIn}
        </Button>
      )}
    </li>
  );
}
