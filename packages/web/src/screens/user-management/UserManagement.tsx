import { Badge, Tabs, Title } from '@mantine/core';
import { useSearchParams } from 'react-router';
import { useWaitingCounts } from '../../api/users.ts';
import { AllUsers } from './AllUsers.tsx';
import { Applications } from './Applications.tsx';
import { texts } from './texts.ts';
import classes from './UserManagement.module.css';
import { viewParameter } from './user-address.ts';

/** The screen "Administration › Users" with two tabs: the list of accounts and the queue of applicants. */
export function UserManagement() {
  const [urlQuery, setUrlQuery] = useSearchParams();
  const applicantCount = useWaitingCounts().data?.applications ?? 0;
  const view = urlQuery.get(viewParameter) === 'waiting' ? 'waiting' : 'all';

  return (
    // `data-wide` lets the layout use the whole width of the window.
    <div data-wide>
      <Title order={1} mb="xl">
        {texts.heading}
      </Title>
      <Tabs
        value={view}
        onChange={(next) =>
          setUrlQuery(next === 'waiting' ? { [viewParameter]: next } : {}, { replace: true })
        }
        keepMounted={false}
        classNames={{ tab: classes.tab ?? '' }}
      >
        <Tabs.List mb="lg">
          <Tabs.Tab value="all">{texts.allUsers}</Tabs.Tab>
          <Tabs.Tab
            value="waiting"
            rightSection={applicantCount > 0 && <Badge color="eosin">{applicantCount}</Badge>}
          >
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
