import { Text, Title } from '@mantine/core';
import { revokeAnyApiToken, useAllApiTokens } from '../../api/api-tokens.ts';
import { messageOf } from '../../api/client.ts';
import { ApiTokenRow } from '../../components/ApiTokenRow.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { apiTokenTexts } from '../../components/texts.ts';
import { texts as sharedTexts } from '../../language/texts.ts';
import { announce } from '../../notifications/notify.ts';
import classes from './ApiTokenList.module.css';
import { texts } from './texts.ts';

/** The screen "Administration › API tokens": the tokens with which programs act for accounts, each with a button that revokes the token. */
export function ApiTokenList() {
  return (
    <>
      <Title order={1} mb="xs">
        {apiTokenTexts.heading}
      </Title>
      <Text c="dimmed" mb="xl">
        {texts.hint}
      </Text>
      <Tokens />
    </>
  );
}

function Tokens() {
  const tokens = useAllApiTokens();
  if (tokens.isPending) return <Loading label={sharedTexts.loading} />;
  if (tokens.isLoadingError) {
    const message = messageOf(tokens.error, apiTokenTexts.listFailed);
    return <LoadFailed message={message} onRetry={() => void tokens.refetch()} />;
  }
  if (tokens.data.length === 0) return <EmptyState title={texts.noTokens} hint={texts.noTokensHint} />;
  return (
    <ul className={classes.list}>
      {tokens.data.map((token) => (
        <ApiTokenRow
          key={token.id}
          token={token}
          owner={
            <Text size="sm">
              {token.displayName === null ? token.email : `${token.displayName} · ${token.email}`}
            </Text>
          }
          onRevoke={async () => announce(await revokeAnyApiToken(token.id))}
        />
      ))}
    </ul>
  );
}
