import { type Collection, may } from '@lamina/contract';
import {
  Alert,
  Anchor,
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Stack,
  Text,
  Textarea,
  TextInput,
  Title,
} from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { useAuth } from '../../api/auth-state.ts';
import { messageOf } from '../../api/client.ts';
import { changeCollection, useCollection } from '../../api/collections.ts';
import { texts as apiTexts } from '../../api/texts.ts';
import { useAllUsers } from '../../api/users.ts';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { useIsMounted } from '../../components/use-is-mounted.ts';
import { nameOf } from '../../formatting/person.ts';
import { announce } from '../../notifications/notify.ts';
import { AddItems } from './AddItems.tsx';
import classes from './Collections.module.css';
import { changesOf, type Draft, draftOf, missingPartOf } from './draft.ts';
import { ItemList } from './ItemList.tsx';
import { texts } from './texts.ts';

/** The screen in which the owner of a collection (a tour of slides with texts and questions) changes its texts, items and readers. */
export function CollectionEditor() {
  const { collectionId = '' } = useParams();
  const collection = useCollection(collectionId);
  // Waits for the response even when the collection is cached: the owner must not edit an outdated version.
  if (collection.isPending || !collection.isFetchedAfterMount) return <Loading label={texts.loading} />;
  if (collection.isLoadingError || !collection.data.own) {
    return (
      <LoadFailed
        message={collection.isLoadingError ? messageOf(collection.error, texts.loadFailed) : texts.notOwn}
        onRetry={() => void collection.refetch()}
      />
    );
  }
  return <Editor key={collectionId} collection={collection.data} />;
}

function Editor({ collection }: { readonly collection: Collection }) {
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  /** The version that the draft is based on. A reload changes `collection`, but not the draft. */
  const [version] = useState(collection.version);
  const [draft, setDraft] = useState<Draft>(() => draftOf(collection));
  const [isAdding, setAdding] = useState(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const addButton = useRef<HTMLButtonElement>(null);

  async function save() {
    if (draft.title.trim() === '') return setError(texts.titleRequired);
    const incompleteIndex = draft.items.findIndex(
      ({ question }) => question !== null && missingPartOf(question) !== null,
    );
    if (incompleteIndex !== -1) return setError(texts.questionIncomplete(incompleteIndex + 1));
    setRunning(true);
    const result = await changeCollection(collection.id, {
      ...changesOf(draft),
      version, // the server rejects the changes if the collection has been changed since
    });
    if (!isMounted()) return announce(result); // the user has opened another screen, and stays there
    setRunning(false);
    if (!result.success) return setError(result.message);
    setError(null);
    announce(result);
    await navigate('/collections');
  }

  return (
    <>
      <Anchor component={Link} to="/collections" size="sm">
        {texts.allCollections}
      </Anchor>
      <Title order={1} mb="lg">
        {texts.editHeading}
      </Title>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <Stack>
          <TextInput
            label={texts.title}
            value={draft.title}
            maxLength={200} // all lengths in this file are limits of the API
            onChange={({ currentTarget }) => setDraft({ ...draft, title: currentTarget.value })}
          />
          <Textarea
            label={texts.description}
            autosize
            minRows={2}
            maxRows={8}
            maxLength={4000}
            value={draft.description}
            onChange={({ currentTarget }) => setDraft({ ...draft, description: currentTarget.value })}
          />
          <Readers value={draft.readers} onChange={(readers) => setDraft({ ...draft, readers })} />
          <Group justify="space-between">
            <Title order={2} size="h3">
              {texts.items}
            </Title>
            <Button
              ref={addButton}
              variant="default"
              leftSection={<IconPlus size={18} aria-hidden />}
              onClick={() => setAdding(true)}
            >
              {texts.addItems}
            </Button>
          </Group>
          {draft.items.length === 0 ? (
            <EmptyState title={texts.noItems} hint={texts.noItemsHint} />
          ) : (
            <ItemList
              items={draft.items}
              onChange={(items) => setDraft({ ...draft, items })}
              onRemoveLast={() => addButton.current?.focus()}
            />
          )}
          {error !== null && <Alert color="red">{error}</Alert>}
          <Group justify="flex-end">
            <Button variant="default" component={Link} to="/collections">
              {texts.cancel}
            </Button>
            <Button type="submit" loading={isRunning}>
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </form>
      {isAdding && (
        <AddItems
          onAdd={(added) => setDraft({ ...draft, items: [...draft.items, ...added] })}
          onClose={() => setAdding(false)}
        />
      )}
    </>
  );
}

interface ReadersProps {
  /** `members`: all members; otherwise the uids of the listed accounts, empty if only the owner may read the collection. */
  readonly value: Collection['readers'];
  readonly onChange: (readers: Collection['readers']) => void;
}

/**
 * Field that sets who may read the collection: only its owner, all members, or listed accounts. Only administrators can
 * change the listed accounts, because only they may load the list of all accounts.
 */
function Readers({ value, onChange }: ReadersProps) {
  const { user } = useAuth();
  const canListAccounts = user !== null && may(user, 'users.manage');
  const [kind, setKind] = useState(() => readersKindOf(value));
  /** The listed accounts, kept while the owner selects another kind of readers. */
  const [listedUids, setListedUids] = useState<readonly string[]>(value === 'members' ? [] : value);
  const offersListedAccounts = canListAccounts || listedUids.length > 0;
  function choose(nextKind: ReadersKind) {
    setKind(nextKind);
    if (nextKind === 'members') onChange('members');
    else onChange(nextKind === 'listed' ? [...listedUids] : []);
  }
  return (
    <div>
      <Text id="readers" size="sm" fw={500} mb={4}>
        {texts.readers}
      </Text>
      <SegmentedControl
        aria-labelledby="readers"
        size="xs"
        className={classes.segments ?? ''}
        value={kind}
        onChange={choose}
        data={[
          { value: 'none', label: texts.onlyMe },
          { value: 'members', label: texts.allMembers },
          ...(offersListedAccounts ? [{ value: 'listed' as const, label: texts.chosenPeople }] : []),
        ]}
      />
      {kind === 'listed' &&
        (canListAccounts ? (
          <ReaderList
            value={listedUids}
            onChange={(uids) => {
              setListedUids(uids);
              onChange([...uids]);
            }}
          />
        ) : (
          <Text size="sm" c="dimmed" mt="xs">
            {texts.readersOf(listedUids.length)}
          </Text>
        ))}
      <Text size="sm" c="dimmed" mt={4}>
        {texts.readersHint}
      </Text>
    </div>
  );
}

/** `none`: only the owner may read the collection. */
type ReadersKind = 'none' | 'members' | 'listed';

function readersKindOf(readers: Collection['readers']): ReadersKind {
  if (readers === 'members') return 'members';
  return readers.length === 0 ? 'none' : 'listed';
}

interface ReaderListProps {
  /** Uids of the listed accounts. */
  readonly value: readonly string[];
  readonly onChange: (uids: readonly string[]) => void;
}

function ReaderList({ value, onChange }: ReaderListProps) {
  const users = useAllUsers();
  if (users.isPending) return <Loading label={texts.loading} />;
  if (users.isLoadingError) {
    return (
      <LoadFailed
        message={messageOf(users.error, apiTexts.usersFailed)}
        onRetry={() => void users.refetch()}
      />
    );
  }
  // A listed account that is no longer active stays an option, so that the owner can remove it.
  const choosableUsers = users.data.filter(({ status, uid }) => status === 'active' || value.includes(uid));
  return (
    <MultiSelect
      mt="xs"
      aria-label={texts.chosenPeople}
      placeholder={texts.choosePeople}
      searchable
      data={choosableUsers.map((user) => ({ value: user.uid, label: `${nameOf(user)} (${user.email})` }))}
      value={[...value]}
      onChange={onChange}
      limit={50} // suggestions shown at a time
    />
  );
}
