import { Role, Status, UserSort } from '@lamina/contract';
import { Button, Pagination } from '@mantine/core';
import { IconRefresh } from '@tabler/icons-react';
import { useRef } from 'react';
import { useSearchParams } from 'react-router';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { texts as apiTexts } from '../../api/texts.ts';
import { type UserQuery, usersPerPage, useUsers } from '../../api/users.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { ListToolbar } from '../../components/ListToolbar.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { formatNumber } from '../../formatting/numbers.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { roleLabel, statusLabel } from '../../language/texts.ts';
import { texts } from './texts.ts';
import { UserCard } from './UserCard.tsx';
import classes from './UserManagement.module.css';
import { readUserQuery, writeUserQuery } from './user-address.ts';

/**
 * The paged list of all accounts on the user management screen. The URL holds search, filters, order and page. While another page is
 * loading, the style sheet dims the previous page (`data-stale`).
 */
export function AllUsers() {
  const [urlQuery, setUrlQuery] = useSearchParams();
  const query = readUserQuery(urlQuery);
  const users = useUsers(query);
  const listTop = useRef<HTMLDivElement>(null);

  /** Changes search, filters or order, and opens the first page. */
  const changeQuery = (change: Partial<UserQuery>) =>
    setUrlQuery(writeUserQuery({ ...query, page: 1, ...change }), { replace: true });

  async function refresh() {
    const { isSuccess, isRefetchError, error } = await users.refetch();
    if (isSuccess) toast.success(apiTexts.usersLoaded);
    if (isRefetchError) toast.error(messageOf(error, apiTexts.usersFailed)); // the list stays as it was
  }

  const { data } = users;
  const isFiltered = query.search !== '' || query.status !== null || query.role !== null;
  const clearFilters = () => changeQuery({ search: '', status: null, role: null });
  const pageCount = data === undefined ? 1 : Math.ceil(data.total / usersPerPage);
  return (
    <Panel
      title={texts.title}
      titleLang={chosenLanguageOr('en')} // 'en' until the user chooses a language
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
      <div ref={listTop} className={classes.top}>
        <ListToolbar
          searchLabel={texts.search}
          searchHint={texts.searchHint}
          search={query.search}
          onSearch={(search) => changeQuery({ search })}
          choices={[
            {
              label: texts.statusFilter,
              value: query.status ?? '',
              options: [
                { value: '', label: texts.anyStatus },
                ...Status.options.map((value) => ({
                  value,
                  label: data?.counts
                    ? `${statusLabel(value)} (${formatNumber(data.counts[value])})`
                    : statusLabel(value),
                })),
              ],
              onChange: (value) => changeQuery({ status: Status.safeParse(value).data ?? null }),
            },
            {
              label: texts.roleFilter,
              value: query.role ?? '',
              options: [
                { value: '', label: texts.anyRole },
                ...Role.options.map((value) => ({ value, label: roleLabel(value) })),
              ],
              onChange: (value) => changeQuery({ role: Role.safeParse(value).data ?? null }),
            },
            {
              label: texts.sort,
              value: query.sort,
              options: UserSort.options.map((value) => ({ value, label: texts.sorts[value] })),
              onChange: (value) => changeQuery({ sort: UserSort.safeParse(value).data ?? 'newest' }),
            },
          ]}
          countText={data === undefined ? null : texts.userCount(data.total)}
          onClear={isFiltered ? clearFilters : null}
        />
      </div>
      {users.isPending && <Loading label={texts.loading} />}
      {users.isLoadingError && (
        <LoadFailed
          message={messageOf(users.error, apiTexts.usersFailed)}
          onRetry={() => void users.refetch()}
        />
      )}
      {data?.users.length === 0 && (
        <NoUsers isFiltered={isFiltered} isBeyondEnd={data.total > 0} onClear={clearFilters} />
      )}
      {data !== undefined && data.users.length > 0 && (
        <ul className={classes.cards} data-stale={users.isPlaceholderData || undefined}>
          {data.users.map((user) => (
            <UserCard key={user.uid} user={user} />
          ))}
        </ul>
      )}
      {pageCount > 1 && (
        <Pagination
          className={classes.pages ?? ''}
          total={pageCount}
          value={query.page}
          onChange={(page) => {
            // Unlike a filter, each page gets an entry in the history of the browser.
            setUrlQuery(writeUserQuery({ ...query, page }));
            listTop.current?.scrollIntoView({ block: 'start' });
          }}
          getControlProps={(control) => ({ 'aria-label': texts.pageControls[control] })}
          getItemProps={(page) => ({ 'aria-label': texts.page(page) })}
        />
      )}
    </Panel>
  );
}

interface NoUsersProps {
  readonly isFiltered: boolean;
  /** Whether the URL has a page number after the last page. */
  readonly isBeyondEnd: boolean;
  /** Clears the filters and opens the first page. */
  readonly onClear: () => void;
}

/** Shown instead of the list when it is empty. */
function NoUsers({ isFiltered, isBeyondEnd, onClear }: NoUsersProps) {
  if (!isFiltered && !isBeyondEnd) return <EmptyState title={texts.empty} hint={texts.emptyHint} />;
  return (
    <EmptyState
      title={isBeyondEnd ? texts.emptyPage : texts.noMatch}
      action={
        <Button size="sm" variant="default" onClick={onClear}>
          {isBeyondEnd && !isFiltered ? texts.firstPage : texts.clearFilters}
        </Button>
      }
    />
  );
}
