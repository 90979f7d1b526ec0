import { Badge, Button, Tabs, Text, Title } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useSearchParams } from 'react-router';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { texts as outcomes } from '../../api/texts.ts';
import { useUsers, useWaiting } from '../../api/users.ts';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { languageNow } from '../../language.ts';
import { Applications } from './Applications.tsx';
import { texts } from './texts.ts';
import { UserCard } from './UserCard.tsx';
import classes from './UserManagement.module.css';

/** Letters to administrators lead to `?view=waiting`. */
const viewParameter = 'view';
type View = 'all' | 'waiting';

/** Administration › users: every account, with the actions its status allows, and the queue of those who wait. */
export function UserManagement() {
  const [address, setAddress] = useSearchParams();
  const waiting = useWaiting().data?.applications ?? 0;
  const view: View = address.get(viewParameter) === 'waiting' ? 'waiting' : 'all';
  const show = (next: string | null) =>
    setAddress(next === 'waiting' ? { [viewParameter]: 'waiting' } : {}, { replace: true });

  return (
    <>
      <Title order={1} mb="xl">
        {texts.heading}
      </Title>
      <Tabs value={view} onChange={show} keepMounted={false} classNames={{ tab: classes.tab ?? '' }}>
        <Tabs.List mb="lg">
          <Tabs.Tab value="all">{texts.everybody}</Tabs.Tab>
          <Tabs.Tab value="waiting" rightSection={waiting > 0 && <Badge color="eosin">{waiting}</Badge>}>
            {texts.waiting}
          </Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="all">
          <AllUsers />
        </Tabs.Panel>
        <Tabs.Panel value="waiting">
          <Applications />
        </Tabs.Panel>
      </Tabs>
    </>
  );
}

function AllUsers() {
  const users = useUsers();

  async function refresh() {
    const { isSuccess } = await users.refetch();
    if (isSuccess) toast.success(outcomes.usersLoaded);
  }

  return (
    <Panel
      title={texts.title}
      titleLang={languageNow('en')}
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
