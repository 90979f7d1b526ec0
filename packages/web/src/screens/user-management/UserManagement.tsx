import { Button, Text, Title } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { texts as outcomes } from '../../api/texts.ts';
import { useUsers } from '../../api/users.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { texts } from './texts.ts';
import { UserCard } from './UserCard.tsx';
import classes from './UserManagement.module.css';

/** Administration › users: every account, with the actions its status allows. */
export function UserManagement() {
  const users = useUsers();

  async function refresh() {
    const { isSuccess } = await users.refetch();
    if (isSuccess) toast.success(outcomes.usersLoaded);
  }

  return (
    <>
      <Title order={1} mb="xl">
        {texts.heading}
      </Title>
      <Panel
        title={texts.title}
        titleLang="en"
        action={
          <Button
            size="sm"
            variant="default"
            leftSection={<IconRefresh size={18} aria-hidden />}
            loading={users.isFetching}
            onClick={() => void refresh()}
          >
            {texts.refresh}
          </Button>
        }
      >
        <Users users={users} />
      </Panel>
    </>
  );
}

function Users({ users }: { readonly users: ReturnType<typeof useUsers> }) {
  if (users.isPending) return <Loading label={texts.loading} />;
  if (users.isError) {
    return (
      <LoadFailed
        message={messageOf(users.error, outcomes.usersFailed)}
        onRetry={() => void users.refetch()}
      />
    );
  }
  if (users.data.length === 0) return <Text c="dimmed">{texts.empty}</Text>;

  return (
    <ul className={classes.cards}>
      {users.data.map((user) => (
        <UserCard key={user.uid} user={user} />
      ))}
    </ul>
  );
}
