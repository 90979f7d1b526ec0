import type { User } from '@lamina/contract';
import { Alert, Button, Code, Group, Stack, Text } from '@mantine/core';
import { IconAlertCircle } from '@tabler/icons-react';
import { useState } from 'react';
import { type CreatedApiToken, revokeOwnApiToken, useApiTokens } from '../../api/api-tokens.ts';
import { copyText } from '../../browser/copy-text.ts';
import { ApiTokenRow } from '../../components/ApiTokenRow.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { apiTokenTexts } from '../../components/texts.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import { NewApiTokenDialog } from './NewApiTokenDialog.tsx';
import classes from './SignInsCard.module.css'; // the token list looks like the list of sign-ins
import { texts } from './texts.ts';

/** Card of the profile that creates and revokes API tokens (credentials for programs). It shows a new token once. */
export function ApiTokensCard({ user }: { readonly user: User }) {
  const tokens = useApiTokens();
  const [isCreating, setCreating] = useState(false);
  /** The new token, until the user confirms that it is saved; null when there is no new token. */
  const [createdToken, setCreatedToken] = useState<CreatedApiToken | null>(null);

  return (
    <Panel title={apiTokenTexts.heading}>
      <Stack>
        <Text c="dimmed">{texts.apiTokensHint}</Text>
        {createdToken !== null && (
          <CreatedToken token={createdToken.token} onDone={() => setCreatedToken(null)} />
        )}
        {tokens.isPending && <Loading label={sharedTexts.loading} />}
        {tokens.isLoadingError && (
          <LoadFailed message={apiTokenTexts.listFailed} onRetry={() => void tokens.refetch()} />
        )}
        {tokens.data?.length === 0 && <EmptyState title={texts.noApiTokens} />}
        {tokens.data !== undefined && tokens.data.length > 0 && (
          <ul className={classes.list}>
            {tokens.data.map((token) => (
              <ApiTokenRow
                key={token.id}
                token={token}
                onRevoke={async () => announce(await revokeOwnApiToken(token.id))}
              />
            ))}
          </ul>
        )}
        {tokens.data !== undefined && createdToken === null && (
          <Group>
            <Button variant="default" onClick={() => setCreating(true)}>
              {texts.newApiToken}
            </Button>
          </Group>
        )}
      </Stack>
      {isCreating && (
        <NewApiTokenDialog
          user={user}
          onCreated={(token) => {
            setCreating(false);
            setCreatedToken(token);
          }}
          onClose={() => setCreating(false)}
        />
      )}
    </Panel>
  );
}

interface CreatedTokenProps {
  readonly token: string;
  readonly onDone: () => void;
}

function CreatedToken({ token, onDone }: CreatedTokenProps) {
  const copy = async () => {
    const success = await copyText(token);
    // After a failure, the user can still select the token and copy it.
    announce({ success, message: success ? texts.apiTokenCopied : texts.apiTokenCopyFailed });
  };

  return (
    <Stack role="status">
      <Alert variant="outline" icon={<IconAlertCircle aria-hidden />} title={texts.apiTokenCreated}>
        {texts.apiTokenOnce}
      </Alert>
      <Code block className={classes.breakAnywhere} aria-label={texts.apiTokenValue} role="group">
        {token}
      </Code>
      <Group gap="sm">
        <Button onClick={() => void copy()}>{texts.apiTokenCopy}</Button>
        <Button variant="default" onClick={onDone}>
          {texts.apiTokenDone}
        </Button>
      </Group>
    </Stack>
  );
}
