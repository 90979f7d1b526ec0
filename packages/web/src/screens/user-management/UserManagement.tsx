import { Badge, Tabs, Title } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { useWaiting } from '../../api/users.ts';
import { AllUsers } from './AllUsers.tsx';
import { Applications } from './Applications.tsx';
import { texts } from './texts.ts';
import classes from './UserManagement.module.css';
import { viewParameter } from './user-address.ts';

/** Administration › users: the list of accounts, and the queue of applicants. */
export function UserManagement() {
  const [address, setAddress] = useSearchParams();
  const waiting = useWaiting().data?.applications ?? 0;
  const view = address.get(viewParameter) === 'waiting' ? 'waiting' : 'all';

  return (
    <div data-wide>
      <Title order={1} mb="xl">
        {texts.heading}
      </Title>
      <Tabs
        value={view}
        onChange={(next) =>
          setAddress(next === 'waiting' ? { [viewParameter]: next } : {}, { replace: true })
        }
        keepMounted={false}
        classNames={{ tab: classes.tab ?? '' }}
      >
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
    </div>
  );
}
